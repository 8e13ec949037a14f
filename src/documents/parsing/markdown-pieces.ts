import { linesOf, type Piece } from './parsed-document.ts'

interface Heading {
  /** Offset of the heading's line. */
  start: number
  section: string
}

/** Code between backticks of the same line opens nothing. */
const fenceLine = /^ {0,3}(`{3,}(?!`|.*`)|~{3,})(.*)$/
const hashHeading = /^ {0,3}#{1,6}[ \t]+(.*)$/
/** An HTML heading in one line; the title has no markup. */
const htmlHeading = /^ {0,3}<h[1-6](?:\s[^>]*)?>(.*)<\/h[1-6]>$/i
const underline = /^ {0,3}(?:=+|-+)$/
/** A line that can be a heading if an underline follows: no list item, quote, table row or code. */
const paragraphLine = /^ {0,3}[^\s>|#*+`~-]/

/** Cuts markdown before each heading outside of code, comments and front matter; joined, it is the text. */
export function markdownPieces(markdown: string): Piece[] {
  const headings = [...headingsOf(markdown)]
  const preface = { text: markdown.slice(0, headings[0]?.start) }
  const sections = headings.map(({ start, section }, index) => {
    return { text: markdown.slice(start, headings[index + 1]?.start), section }
  })
  return [preface, ...sections]
}

/** Returns a web page in markdown: it begins with its title, the section of all before the first heading. */
export function pagePieces({ title, text }: { title: string; text: string }): Piece[] {
  const named = text.trim() === '' || text.includes(title) ? text : `${title}\n\n${text}`
  return markdownPieces(named).map(piece => ({ ...piece, section: piece.section ?? title }))
}

function* headingsOf(markdown: string): Generator<Heading> {
  let start = frontMatterLength(markdown)
  let fence: string | undefined
  let inComment = false
  let previous: Heading | undefined
  for (const line of linesOf(markdown.slice(start))) {
    const content = line.trimEnd()
    const isComment: boolean = fence === undefined && (inComment || content.trimStart().startsWith('<!--'))
    inComment = isComment && !content.includes('-->')
    const outside = fence === undefined && !isComment
    fence = isComment ? fence : fenceAfter(content, fence)
    const title = outside
      ? (hashHeading.exec(content)?.[1] ?? htmlHeading.exec(content)?.[1]?.replace(/<\/?[a-z][^<>]*>/gi, ''))
      : undefined
    if (title !== undefined) yield { start, section: plainTitle(title) }
    else if (outside && previous !== undefined && underline.test(content)) yield previous
    const mayBeTitle = outside && fence === undefined && paragraphLine.test(content)
    previous = mayBeTitle ? { start, section: plainTitle(content) } : undefined
    start += line.length
  }
}

/** A fence, and comments, above a first key: other dashes are a rule. */
const frontMatter = /^(---|\+\+\+)\n(?:[ \t]*(?:#.*)?\n)*["'\w][^\n:=]*(?::(?:[ \t]|\n)|=)/

/** Returns the length of front matter: YAML between dashes, whose comments look like headings, or TOML. */
function frontMatterLength(markdown: string): number {
  const fence = frontMatter.exec(markdown)?.[1]
  return fence === undefined ? 0 : Math.max(0, markdown.indexOf(`\n${fence}\n`))
}

/** Returns the open fence after a line; a closing one is alone and at least as long as the opening one. */
export function fenceAfter(line: string, open: string | undefined): string | undefined {
  const [, marks, rest] = fenceLine.exec(line) ?? []
  if (marks === undefined) return open
  if (open === undefined) return marks
  return marks.startsWith(open) && rest?.trim() === '' ? undefined : open
}

/** Max characters of a heading that are kept. */
const maxTitleLength = 400

/** Returns a title without common markup: closing hashes, links, attributes, emphasis and code marks. */
function plainTitle(title: string): string {
  // The cut comes first: a line of brackets takes time by the square of its length.
  return title
    .slice(0, maxTitleLength)
    .replace(/[ \t]+#+[ \t]*$/, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[ \t]*\{[#.][^{}]*\}$/, '')
    .replace(/[*`]/g, '')
}
