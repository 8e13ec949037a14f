/** Text of Word documents that mammoth leaves out: certain elements, and what stands above and below each page. */

/** The parts of a document in which text stands. */
const mainPart = /^word\/document\d*\.xml$/
const textParts = /^word\/(?:document\d*|footnotes|endnotes|comments|header\d*|footer\d*)\.xml$/

/** Around text: fields such as the number of a caption, text in another direction, and characters with their reading above. */
const wrappers = /<\/?w:(?:fldSimple|bdo|dir|ruby|rubyBase)(?:[\s/][^<>]*)?>/g

/** Formulas, which have runs and texts of their own. */
const formulas = /<(\/?)m:(\w+)((?:[\s/][^<>]*)?)>/g
const runs = new Set(['r', 't'])

/** Of what does not stand in a line with the rest, or in brackets. */
const signs = new Map([
  ['sup', '^'],
  ['sub', '_'],
  ['den', '/'],
  ['rad', '√'],
  ['d', '('],
  ['/d', ')'],
])

const embeddedObject = /<o:OLEObject\s[^<>]*?ProgID="([^"<>]{1,100})"/g

/** An archive with that text, if it had any of it. Names stand for namespaces as in all that Word writes. */
export async function unwrapWordText(
  archive: Uint8Array,
): Promise<{ archive: Uint8Array; objects: string[] }> {
  const { default: Zip } = await import('jszip')
  const zip = await Zip.loadAsync(archive)
  const parts = new Map<string, string>()
  for (const part of zip.file(textParts)) parts.set(part.name, await part.async('string'))
  let isChanged = false
  for (const [name, xml] of parts) {
    const unwrapped = mainPart.test(name) ? withMargins(unwrap(xml), parts) : unwrap(xml)
    if (unwrapped === xml) continue
    zip.file(name, unwrapped)
    isChanged = true
  }
  const objects = [...parts.values()].flatMap(xml =>
    [...xml.matchAll(embeddedObject)].map(([, id = '']) => id),
  )
  return { archive: isChanged ? await zip.generateAsync({ type: 'uint8array' }) : archive, objects }
}

function unwrap(xml: string): string {
  return xml.replace(wrappers, '').replace(formulas, (_tag, slash: string, name: string, rest: string) => {
    if (runs.has(name)) return `<${slash}w:${name}${rest}>`
    const sign = rest.endsWith('/') ? undefined : signs.get(`${slash}${name}`)
    return sign === undefined ? '' : `<w:r><w:t>${sign}</w:t></w:r>`
  })
}

/**
 * The document with its headers before and its footers after all else, each once, since first and other pages often have
 * the same: an address, or the number of an account.
 */
function withMargins(document: string, parts: ReadonlyMap<string, string>): string {
  const margins = (kind: string) => {
    const those = [...parts].filter(([name]) => name.startsWith(`word/${kind}`))
    const byWords = new Map(those.map(([, xml]) => contentOf(unwrap(xml))).map(xml => [wordsOf(xml), xml]))
    return [...byWords.values()].join('')
  }
  const end = document.lastIndexOf('</w:body>')
  if (end === -1) return document
  return (
    document.slice(0, end).replace(/<w:body(?:\s[^<>]*)?>/, body => body + margins('header')) +
    margins('footer') +
    document.slice(end)
  )
}

/** Word numbers each paragraph anew, so that the same words stand in other tags. */
function wordsOf(xml: string): string {
  return xml.replace(/<[^<>]*>/g, ' ')
}

const margin = /<w:(?:hdr|ftr)((?:\s[^<>]*)?)>/
/** References to pictures and addresses, which are those of the part that it was taken from. */
const references = /\sr:\w+="[^"<>]*"/g

/** In an element that is none of the text, but keeps its namespaces. */
function contentOf(xml: string): string {
  const begin = margin.exec(xml)
  if (begin === null) return ''
  const [tag, namespaces] = begin
  const content = xml.slice(begin.index + tag.length, xml.lastIndexOf('</w:'))
  if (!/<w:t[\s>]/.test(content)) return ''
  return `<w:customXml${namespaces}>${content.replace(references, '')}</w:customXml>`
}
