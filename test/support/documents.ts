/** Documents made from nothing, for tests: each is the smallest that a real reader accepts. */
import { crc32, deflateRawSync, deflateSync } from 'node:zlib'
import { Document, HeadingLevel, Packer, Paragraph, Table, TableCell, TableRow } from 'docx'

interface PdfOptions {
  /** Headings that lead to pages, counted from 1. */
  outline?: { title: string; page: number }[]
  /** Whether each heading stands below the one before it. */
  isNested?: boolean
  /** Replaces the drawing commands of the pages. */
  content?: PdfStream
  /** Replaces Helvetica. */
  font?: string
  /** Entries of every page's dictionary. */
  page?: string
  /** Fields of a form on the first page: the entries of their dictionaries. */
  fields?: string[]
}

interface PdfStream {
  /** Entries of the stream's dictionary besides its length. */
  dictionary: string
  bytes: Uint8Array
}

export type PdfObject = string | PdfStream

const lineHeight = 14
const helvetica = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'

/** A PDF with one page for each text, Latin letters only; `\n` begins a line, and a blank line a paragraph. */
export function makePdf(
  pages: string[],
  { outline = [], isNested = false, content, font = helvetica, page = '', fields = [] }: PdfOptions = {},
): Uint8Array {
  const pageNumber = (index: number) => 4 + index * 2
  const outlineNumber = pageNumber(pages.length)
  const outlines = outlineObjects(outline, isNested ? '/First' : '/Next', outlineNumber, pageNumber)
  const form = fields.map((_, index) => `${outlineNumber + outlines.length + index} 0 R`).join(' ')
  const objects: PdfObject[] = [
    `<< /Type /Catalog /Pages 2 0 R ${outline.length > 0 ? `/Outlines ${outlineNumber} 0 R` : ''} /AcroForm << /Fields [${form}] >> >>`,
    `<< /Type /Pages /Kids [${pages.map((_, index) => `${pageNumber(index)} 0 R`).join(' ')}] /Count ${pages.length} >>`,
    font,
    ...pages.flatMap((text, index): PdfObject[] => [
      `<< /Type /Page ${page} /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${pageNumber(index) + 1} 0 R ${index === 0 ? `/Annots [${form}]` : ''} >>`,
      content ?? { dictionary: '', bytes: Buffer.from(drawing(text), 'latin1') },
    ]),
    ...outlines,
    ...fields.map(field => `<< /Type /Annot /Subtype /Widget /Rect [0 0 9 9] /P 4 0 R ${field} >>`),
  ]
  return assemblePdf(objects)
}

/** Text at its place on a page. */
export interface PlacedText {
  text: string
  /** Points from the left and from the bottom. */
  x: number
  y: number
  size?: number
  /** Degrees to the left by which it is turned. */
  turned?: number
}

/** How wide a character of Courier is, in sizes of the font. */
export const characterWidth = 0.6

/** A page of texts in Courier, drawn in this order. */
export function makeDrawnPdf(texts: PlacedText[], page = ''): Uint8Array {
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>'
  const drawn = texts.map(({ text, x, y, size = 10, turned = 0 }) => {
    const [along, across] = [Math.cos((turned * Math.PI) / 180), Math.sin((turned * Math.PI) / 180)]
    const matrix = [along, across, -across, along, x, y].map(value => value.toFixed(4)).join(' ')
    return `/F1 ${size} Tf ${matrix} Tm (${escaped(text)}) Tj`
  })
  const bytes = Buffer.from(`BT ${drawn.join('\n')} ET`, 'latin1')
  return makePdf([''], { font, page, content: { dictionary: '', bytes } })
}

/**
 * A PDF of a text that can only be read by those who know the map by its name.
 * @param collection names the characters that the map's numbers stand for
 */
export function makeEastAsianPdf(map: string, collection: string, text: Uint8Array): Uint8Array {
  const bytes = Buffer.from(`BT /F1 12 Tf 50 800 Td <${Buffer.from(text).toString('hex')}> Tj ET`)
  return makePdf([''], { font: eastAsianFont(map, collection), content: { dictionary: '', bytes } })
}

/** A page of lines in Japanese from top to bottom, drawn in this order. */
export function makeVerticalPdf(lines: Pick<PlacedText, 'text' | 'x' | 'y'>[]): Uint8Array {
  const drawn = lines.map(({ text, x, y }) => {
    return `1 0 0 1 ${x} ${y} Tm <${Buffer.from(text, 'utf16le').swap16().toString('hex')}> Tj`
  })
  const bytes = Buffer.from(`BT /F1 12 Tf ${drawn.join('\n')} ET`)
  return makePdf([''], { font: eastAsianFont('UniJIS-UCS2-V', 'Japan1'), content: { dictionary: '', bytes } })
}

function eastAsianFont(map: string, collection: string): string {
  const characters = `<< /Registry (Adobe) /Ordering (${collection}) /Supplement 2 >>`
  const cidFont = `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Kept /CIDSystemInfo ${characters} >>`
  return `<< /Type /Font /Subtype /Type0 /BaseFont /Kept /Encoding /${map} /DescendantFonts [${cidFont}] >>`
}

/** A PDF that asks for a password before it tells anything. */
export function makeEncryptedPdf(): Uint8Array {
  const secret = `<${'5a'.repeat(32)}>`
  const objects: PdfObject[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [] /Count 0 >>',
    `<< /Filter /Standard /V 1 /R 2 /P -4 /O ${secret} /U ${secret} >>`,
  ]
  return assemblePdf(objects, '/Encrypt 3 0 R /ID [<00112233> <00112233>]')
}

/** A PDF of a few kilobytes whose only page inflates to that many bytes, through two layers. */
export function makePdfBomb(inflatedBytes: number): Uint8Array {
  const bytes = deflateSync(deflateSync(Buffer.alloc(inflatedBytes, ' ')))
  return makePdf([''], { content: { dictionary: '/Filter [/FlateDecode /FlateDecode]', bytes } })
}

function drawing(text: string): string {
  const lines = text.split('\n').map(line => `(${escaped(line)}) Tj 0 -${lineHeight} Td`)
  return `BT /F1 12 Tf 50 800 Td ${lines.join(' ')} ET`
}

function escaped(text: string): string {
  return text.replace(/[\\()]/g, '\\$&')
}

function outlineObjects(
  outline: { title: string; page: number }[],
  toNext: string,
  number: number,
  pageNumber: (index: number) => number,
): string[] {
  if (outline.length === 0) return []
  const entries = outline.map(({ title, page }, index) => {
    const next = index + 1 < outline.length ? `${toNext} ${number + index + 2} 0 R` : ''
    return `<< /Title (${title}) /Parent ${number} 0 R ${next} /Dest [${pageNumber(page - 1)} 0 R /Fit] >>`
  })
  const root = `<< /Type /Outlines /First ${number + 1} 0 R /Last ${number + outline.length} 0 R /Count ${outline.length} >>`
  return [root, ...entries]
}

/** A PDF of these objects, numbered from 1, the first of which is its catalog. */
export function assemblePdf(objects: PdfObject[], trailer = ''): Uint8Array {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  let length = 9
  const add = (part: Buffer) => {
    parts.push(part)
    length += part.length
  }
  objects.forEach((object, index) => {
    offsets.push(length)
    add(Buffer.from(`${index + 1} 0 obj\n`))
    if (typeof object === 'string') add(Buffer.from(`${object}\nendobj\n`, 'latin1'))
    else {
      add(Buffer.from(`<< /Length ${object.bytes.length} ${object.dictionary} >>\nstream\n`))
      add(Buffer.from(object.bytes))
      add(Buffer.from('\nendstream\nendobj\n'))
    }
  })
  const rows = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  const start = length
  add(Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${rows}`))
  add(Buffer.from(`trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`))
  return new Uint8Array(Buffer.concat(parts))
}

/** One thing after another in a Word document. */
export type DocxBlock = { heading: string } | { text: string } | { table: string[][] }

export async function makeDocx(blocks: DocxBlock[]): Promise<Uint8Array> {
  const children = blocks.map(block => {
    if ('heading' in block) return new Paragraph({ text: block.heading, heading: HeadingLevel.HEADING_1 })
    if ('text' in block) return new Paragraph(block.text)
    const rows = block.table.map(cells => {
      return new TableRow({ children: cells.map(cell => new TableCell({ children: [new Paragraph(cell)] })) })
    })
    return new Table({ rows })
  })
  return new Uint8Array(await Packer.toBuffer(new Document({ sections: [{ children }] })))
}

const wordNamespace = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
const packageNamespace = 'http://schemas.openxmlformats.org/package/2006'
const officeNamespace = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** Of the prefixes that Word itself writes. */
const docxNamespaces = [
  ['r', officeNamespace],
  ['wp', 'http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing'],
  ['a', 'http://schemas.openxmlformats.org/drawingml/2006/main'],
  ['pic', 'http://schemas.openxmlformats.org/drawingml/2006/picture'],
  ['c', 'http://schemas.openxmlformats.org/drawingml/2006/chart'],
  ['dgm', 'http://schemas.openxmlformats.org/drawingml/2006/diagram'],
  ['m', 'http://schemas.openxmlformats.org/officeDocument/2006/math'],
  ['mc', 'http://schemas.openxmlformats.org/markup-compatibility/2006'],
  ['wps', 'http://schemas.microsoft.com/office/word/2010/wordprocessingShape'],
  ['wpg', 'http://schemas.microsoft.com/office/word/2010/wordprocessingGroup'],
  ['wpc', 'http://schemas.microsoft.com/office/word/2010/wordprocessingCanvas'],
  ['w14', 'http://schemas.microsoft.com/office/word/2010/wordml'],
  ['adec', 'http://schemas.microsoft.com/office/drawing/2017/decorative'],
  ['v', 'urn:schemas-microsoft-com:vml'],
  ['o', 'urn:schemas-microsoft-com:office:office'],
]
  .map(([prefix, uri]) => `xmlns:${prefix}="${uri}"`)
  .join(' ')

/** A part that the document refers to, with the namespaces declared at the end of its root's first tag. */
export interface DocxPart {
  /** Below `word/`; also its relation's id. */
  name: string
  /** The relation, such as `chart`. */
  type: string
  /** Undefined for a part that is missing. */
  content: string | Uint8Array | undefined
  contentType?: string
}

/** A Word document with that body as it stands, and entries beside it. */
export function makeDocxFromXml(
  body: string,
  { doctype = '', entries = [], parts = [] }: DocxXmlOptions = {},
): Uint8Array {
  const overrides = parts.map(
    ({ name, contentType = 'application/xml' }) =>
      `<Override PartName="/word/${name}" ContentType="${contentType}"/>`,
  )
  const relations = parts.map(
    ({ name, type }) => `<Relationship Id="${name}" Type="${officeNamespace}/${type}" Target="${name}"/>`,
  )
  const main = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'
  return makeZip([
    {
      name: '[Content_Types].xml',
      content: `<Types xmlns="${packageNamespace}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${main}"/>${overrides.join('')}</Types>`,
    },
    {
      name: '_rels/.rels',
      content: `<Relationships xmlns="${packageNamespace}/relationships"><Relationship Id="r1" Type="${officeNamespace}/officeDocument" Target="word/document.xml"/></Relationships>`,
    },
    {
      name: 'word/document.xml',
      content: `<?xml version="1.0"?>${doctype}<w:document xmlns:w="${wordNamespace}" ${docxNamespaces}><w:body>${body}</w:body></w:document>`,
    },
    {
      name: 'word/_rels/document.xml.rels',
      content: `<Relationships xmlns="${packageNamespace}/relationships">${relations.join('')}</Relationships>`,
    },
    ...parts.flatMap(({ name, content }) =>
      content === undefined
        ? []
        : {
            name: `word/${name}`,
            content:
              typeof content === 'string'
                ? content.replace(/^<(?:w|c|dgm):\w+/, `$& xmlns:w="${wordNamespace}" ${docxNamespaces}`)
                : content,
          },
    ),
    ...entries,
  ])
}

interface DocxXmlOptions {
  doctype?: string
  entries?: ZipEntry[]
  parts?: DocxPart[]
}

/** A small Word document that inflates to that many bytes of letters, and says that it holds only one. */
export function makeZipBombDocx(inflatedBytes: number): Uint8Array {
  const entry = { name: 'word/comments.xml', content: Buffer.alloc(inflatedBytes, 'a'), declaredBytes: 1 }
  return makeDocxFromXml('<w:p/>', { entries: [entry] })
}

export interface ZipEntry {
  name: string
  content: string | Uint8Array
  /** What the archive says of the entry's inflated size; the truth by default. */
  declaredBytes?: number
}

/** A zip archive with every entry deflated (APPNOTE.TXT 6.3.10). */
export function makeZip(entries: ZipEntry[]): Uint8Array {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content, declaredBytes } of entries) {
    const inflated = Buffer.from(content)
    const data = deflateRawSync(inflated)
    // Version 2.0, no flags, deflated, no time or date; then sizes and the lengths of name and extra field.
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt16LE(8, 4)
    shared.writeUInt32LE(crc32(inflated), 10)
    shared.writeUInt32LE(data.length, 14)
    shared.writeUInt32LE(declaredBytes ?? inflated.length, 18)
    shared.writeUInt16LE(Buffer.byteLength(name), 22)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    const file = Buffer.concat([Buffer.from('PK\x03\x04'), shared, Buffer.from(name), data])
    directory.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), shared, tail, Buffer.from(name))
    files.push(file)
    offset += file.length
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(offset, 16)
  return new Uint8Array(Buffer.concat([...files, ...directory, end]))
}
