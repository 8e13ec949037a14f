/**
 * Counts words that make sentences hard to read, in comments, names and documents, and fails above a maximum. Prints the
 * counts; with `--lines` also each place. Arguments are folders to look into; the default is all of the sources.
 */
import { globSync, readFileSync } from 'node:fs'

const comment = /^\s*(?:\/?\*+\/?|\/\/)\s?/
const persons = /\b(?:somebody|anybody|nobody|everybody|whoever|whatever)\b/gi
const kinds = [
  { name: 'comments that begin with "What"', max: 0, of: 'start', pattern: /^What\b/g },
  { name: 'comments that begin with "Of"', max: 0, of: 'start', pattern: /^Of\b/g },
  { name: 'comments that begin with "Those"', max: 0, of: 'start', pattern: /^Those\b/g },
  { name: 'comments that begin with "As"', max: 0, of: 'start', pattern: /^As\b/g },
  { name: 'comments that begin with "Whether"', max: 40, of: 'start', pattern: /^Whether\b/g },
  { name: 'somebody, nobody, whoever, whatever in code', max: 20, of: 'code', pattern: persons },
  { name: 'somebody, nobody, whoever, whatever in documents', max: 60, of: 'document', pattern: persons },
] as const

interface Line {
  place: string
  text: string
  /** The text of a line that begins a comment. */
  start: string
  code: string
  document: string
}

/** The words of names stand apart: `askPerson` holds `ask`. */
const apart = (line: string): string => line.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ')
/** Texts that people read are no code. */
const withoutStrings = (line: string): string =>
  line.replace(/'(?:[^'\\]|\\.)*'|`[^`]*`|"(?:[^"\\]|\\.)*"/g, "''")

function linesOf(file: string): Line[] {
  const isDocument = file.endsWith('.md')
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.map((text, index) => {
    const place = { place: `${file}:${index + 1}`, text: text.trim() }
    if (isDocument) return { ...place, start: '', code: '', document: text }
    const isComment = comment.test(text)
    // An opening line without words leaves the beginning to the next one.
    const before = lines[index - 1]?.trim() ?? ''
    const begins = before === '/**' || /^\s*\/\*\*?\s*\S/.test(text) || !comment.test(before)
    const prose = text.replace(comment, '')
    const code = isComment ? prose : apart(withoutStrings(text))
    return { ...place, start: isComment && begins ? prose : '', code, document: '' }
  })
}

const folders = process.argv.slice(2).filter(argument => !argument.startsWith('-'))
const isWanted = (file: string) => folders.length === 0 || folders.some(folder => file.startsWith(folder))
const sources = globSync(['src/**/*.{ts,mjs}', 'console/src/**/*.{ts,tsx}']).filter(
  file => !/\.(?:test|test-data)\.tsx?$/.test(file),
)
const documents = globSync(['README.md', 'CONTRIBUTING.md', 'docs/**/*.md', 'src/**/*.md'])
const lines = [...sources, ...documents].filter(isWanted).toSorted().flatMap(linesOf)

for (const { name, max, of, pattern } of kinds) {
  const found = lines.flatMap(line => Array.from(line[of].matchAll(pattern), () => line))
  process.stdout.write(`${found.length} of at most ${max}: ${name}\n`)
  if (found.length > max) process.exitCode = 1
  if (process.argv.includes('--lines'))
    for (const { place, text } of found) process.stdout.write(`  ${place}: ${text}\n`)
}
