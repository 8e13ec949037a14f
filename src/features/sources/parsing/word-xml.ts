/** Elements of Word documents that mammoth leaves out together with the text in them. */

/** The parts of a document in which text stands. */
const textParts = /^word\/(?:document\d*|footnotes|endnotes)\.xml$/

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

/** An archive with that text, if it had any of it. Names stand for namespaces as in all that Word writes. */
export async function unwrapWordText(archive: Uint8Array): Promise<Uint8Array> {
  const { default: Zip } = await import('jszip')
  const zip = await Zip.loadAsync(archive)
  let isChanged = false
  for (const part of zip.file(textParts)) {
    const xml = await part.async('string')
    const unwrapped = unwrap(xml)
    if (unwrapped === xml) continue
    zip.file(part.name, unwrapped)
    isChanged = true
  }
  return isChanged ? await zip.generateAsync({ type: 'uint8array' }) : archive
}

function unwrap(xml: string): string {
  return xml.replace(wrappers, '').replace(formulas, (_tag, slash: string, name: string, rest: string) => {
    if (runs.has(name)) return `<${slash}w:${name}${rest}>`
    const sign = rest.endsWith('/') ? undefined : signs.get(`${slash}${name}`)
    return sign === undefined ? '' : `<w:r><w:t>${sign}</w:t></w:r>`
  })
}
