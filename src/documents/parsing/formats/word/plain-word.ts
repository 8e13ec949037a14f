import { textOf } from '../../html/html-tree.ts'
import { damagedDocument } from './damaged-document.ts'
import type { WordPackage } from './word-package.ts'
import type { WordText } from './word-text.ts'
import { element, escapeXml, writeXml } from './word-xml.ts'

const noteKinds = [
  { part: 'footnotes', note: 'w:footnote' },
  { part: 'endnotes', note: 'w:endnote' },
  { part: 'comments', note: 'w:comment' },
]

/** Writes a document of the shown content, only in elements that mammoth reads. */
export async function plainWord(parts: WordPackage, text: WordText): Promise<Uint8Array> {
  const { default: Zip } = await import('jszip')
  const zip = new Zip()
  const contents = new Map<string, string>()
  for (const { part, note } of noteKinds) {
    const [name] = parts.partsOf(part)
    const notes = name === undefined ? [] : text.readEach(name, note)
    text.notes.set(`${note}Reference`, new Set(notes.map(({ attributes }) => attributes['w:id'] ?? '')))
    if (name !== undefined) contents.set(part, writeXml(element(`w:${part}`, notes)))
  }
  const main = text.read(parts.main)
  if (main === undefined) throw damagedDocument()
  const body = [...margins(parts, text, 'header'), ...main, ...margins(parts, text, 'footer')]
  contents.set('document', writeXml(element('w:document', [element('w:body', body)])))
  zip.file('word/numbering.xml', bullets)
  for (const [name, content] of contents) {
    zip.file(`word/${name}.xml`, content)
    zip.file(`word/_rels/${name}.xml.rels`, relationsTo(text.links))
  }
  return await zip.generateAsync({ type: 'uint8array' })
}

/** Returns headers or footers, each once: first and other pages often share an address or account number. */
function margins(parts: WordPackage, text: WordText, kind: string) {
  const each = parts.partsOf(kind).map(name => element('w:customXml', text.read(name)))
  return new Map(each.map(margin => [textOf(margin), margin])).values()
}

/** A list without numbers, with all levels that mammoth knows. */
const levels = [0, 1, 2, 3, 4].map(level => `<w:lvl w:ilvl="${level}"><w:numFmt w:val="bullet"/></w:lvl>`)
const bullets = `<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:abstractNum w:abstractNumId="0">${levels.join('')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`

function relationsTo(links: ReadonlyMap<string, string>): string {
  const relations = [...links].map(
    ([id, target]) => `<Relationship Id="${id}" Target="${escapeXml(target)}"/>`,
  )
  const namespace = 'http://schemas.openxmlformats.org/package/2006/relationships'
  return `<Relationships xmlns="${namespace}">${relations.join('')}</Relationships>`
}
