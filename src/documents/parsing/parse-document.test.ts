import { describe, expect, test } from 'vitest'
import {
  makeDocx,
  makeDocxFromXml,
  makeEncryptedPdf,
  makePdf,
  makeZip,
  makeZipBombDocx,
} from '#test/support/documents.ts'
import { type DocumentFormat, documentFormatOf } from './document-format.ts'
import { limits } from './limits.ts'
import { parseDocument } from './parse-document.ts'
import { documentOf, type ParsedDocument, UnreadableDocument } from './parsed-document.ts'

interface Part {
  text: string
  page?: number
  section?: string
}

function parts({ text, spans }: ParsedDocument): Part[] {
  return spans.map(({ start, end, ...rest }) => ({ text: text.slice(start, end).trim(), ...rest }))
}

async function parse(format: DocumentFormat, source: string | Uint8Array): Promise<ParsedDocument> {
  return parseDocument(format, typeof source === 'string' ? Buffer.from(source) : source)
}

async function reason(format: DocumentFormat, source: string | Uint8Array): Promise<string> {
  const error = await parse(format, source).catch(error => error)
  expect(error).toBeInstanceOf(UnreadableDocument)
  return error.message
}

test.each<[string, DocumentFormat | undefined]>([
  ['report.pdf', 'pdf'],
  ['REPORT.PDF', 'pdf'],
  ['notes.v2.Md', 'md'],
  ['a.txt', 'txt'],
  ['a.docx', 'docx'],
  ['a.json', 'json'],
  ['a.csv', 'csv'],
  ['a.doc', undefined],
  ['pdf', undefined],
  ['.pdf', undefined],
  ['a.pdf.exe', undefined],
  ['a.constructor', undefined],
])('the format of %s is %s', (name, format) => {
  expect(documentFormatOf(name)).toBe(format)
})

describe('every format', () => {
  test.each<DocumentFormat>(['pdf', 'txt', 'md', 'docx', 'json', 'csv'])(
    '%s: no bytes are an empty file',
    async format => {
      expect(await reason(format, '')).toBe('This file is empty.')
    },
  )

  test('white space is no text', async () => {
    expect(await reason('txt', ' \n\t\r\n')).toBe('This file holds no text.')
  })

  test('too much text is refused', async () => {
    expect(await reason('txt', 'a'.repeat(limits.characters + 1))).toMatch(/more than 20 million characters/)
  })

  test('what no database takes becomes a space or a replacement, and offsets stay', async () => {
    expect(
      documentOf([{ text: 'a\u0000b\u0003\t' }, { text: 'c\ud800d', section: '\udc00 e\u0001' }]),
    ).toEqual({
      text: 'a b \tc\ufffdd',
      spans: [
        { start: 0, end: 5 },
        { start: 5, end: 8, section: '\ufffd e' },
      ],
    })
  })
})

describe('pdf', () => {
  test('pages are counted from 1, and an empty one counts', async () => {
    const document = await parse('pdf', makePdf(['First page (one)', '', 'Third\\page']))
    expect(parts(document)).toEqual([
      { text: 'First page (one)', page: 1 },
      { text: 'Third\\page', page: 3 },
    ])
  })

  test('lines stay lines, and a wider gap begins a paragraph', async () => {
    const { text } = await parse(
      'pdf',
      makePdf(['The first line\nand the second.\nAnd a third.\n\nA new paragraph.']),
    )
    expect(text).toBe('The first line\nand the second.\nAnd a third.\n\nA new paragraph.\n\n')
  })

  test('headings of the outline are sections, which go on over the page break', async () => {
    const outline = [
      { title: 'Alpha', page: 1 },
      { title: 'Nowhere', page: 1 },
      { title: 'Beta', page: 1 },
      { title: 'Not in the text', page: 3 },
    ]
    const pages = ['Preface\n1 Alpha\nabout a\n2 Beta\nabout b', 'more of b', 'the end']
    expect(parts(await parse('pdf', makePdf(pages, { outline })))).toEqual([
      { text: 'Preface', page: 1 },
      { text: '1 Alpha\nabout a', page: 1, section: 'Alpha' },
      { text: '2 Beta\nabout b', page: 1, section: 'Beta' },
      { text: 'more of b', page: 2, section: 'Beta' },
      { text: 'the end', page: 3, section: 'Not in the text' },
    ])
  })

  test('what is filled into a form stands on its page', async () => {
    const fields = [
      '/FT /Tx /T (form1[0].Applicant[0]) /V (Ada Byron)',
      '/FT /Tx /T (Town) /V ()',
      String.raw`/FT /Tx /Ff 4096 /T (Address) /V (1 Tea Lane\rLeeds\r\nUK)`,
      '/FT /Tx /Ff 8192 /T (PIN) /V (4711)',
      '/FT /Btn /T (Smoker) /V /Yes /AS /Yes /AP << /N << /Yes 1 0 R /Off 1 0 R >> >>',
      '/FT /Btn /T (Pets) /V /Off /AS /Off /AP << /N << /Yes 1 0 R /Off 1 0 R >> >>',
      '/FT /Ch /Ff 131072 /T (Room) /Opt [[(1) (North)] [(2) (South)]] /V (2)',
    ]
    expect(parts(await parse('pdf', makePdf(['Name:', 'Page two'], { fields })))).toEqual([
      {
        text: 'Name:\n\nApplicant: Ada Byron\nAddress: 1 Tea Lane\nLeeds\nUK\nSmoker: Yes\nRoom: South',
        page: 1,
      },
      { text: 'Page two', page: 2 },
    ])
  })

  test('a password is asked for', async () => {
    expect(await reason('pdf', makeEncryptedPdf())).toMatch(/protected by a password/)
  })

  test('a scan is told from a text', async () => {
    expect(await reason('pdf', makePdf(['', '']))).toMatch(/seems to be a scan/)
  })

  test('anything else is damaged', async () => {
    expect(await reason('pdf', '<html>not a pdf</html>')).toBe('This file is damaged or not a PDF.')
    expect(await reason('pdf', makePdf(['text']).subarray(0, 60))).toBe('This file is damaged or not a PDF.')
  })

  test('too many pages are refused', async () => {
    expect(await reason('pdf', makePdf(Array(limits.pdfPages + 1).fill('x')))).toMatch(/more than 5000 pages/)
  })
})

describe('docx', () => {
  test('headings are sections, tables stay tables, and text stays as it is', async () => {
    const document = await parse(
      'docx',
      await makeDocx([
        { text: 'Before' },
        { heading: 'Prices' },
        { text: 'Use snake_case, *stars* and 1. numbers.' },
        {
          table: [
            ['Item', 'Price'],
            ['Tea', '3 | 4'],
          ],
        },
      ]),
    )
    expect(parts(document)).toEqual([
      { text: 'Before' },
      {
        text: [
          '# Prices\n\nUse snake_case, *stars* and 1. numbers.\n',
          '|     |     |\n| --- | --- |\n| Item | Price |\n| Tea | 3 \\| 4 |',
        ].join('\n'),
        section: 'Prices',
      },
    ])
  })

  const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`
  const mathRun = (text: string) => `<m:r><m:t xml:space="preserve">${text}</m:t></m:r>`
  const box = (isChecked: 0 | 1) =>
    `<w:sdt xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w:sdtPr><w14:checkbox><w14:checked w14:val="${isChecked}"/></w14:checkbox></w:sdtPr><w:sdtContent>${run('?')}</w:sdtContent></w:sdt>`

  test.each([
    [
      'a simple field',
      `${run('Figure ')}<w:fldSimple w:instr=" SEQ Figure ">${run('7')}</w:fldSimple>`,
      'Figure 7',
    ],
    [
      'characters with their reading above',
      `<w:r><w:ruby><w:rubyPr/><w:rt>${run('とうきょう')}</w:rt><w:rubyBase>${run('東京')}</w:rubyBase></w:ruby></w:r>`,
      '東京',
    ],
    ['text in another direction', `<w:bdo w:val="rtl">${run('left')}</w:bdo>`, 'left'],
    [
      'a formula',
      `<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">${mathRun('E = m')}<m:sSup><m:sSupPr/><m:e>${mathRun('c')}</m:e><m:sup>${mathRun('2')}</m:sup></m:sSup></m:oMath>`,
      'E = mc^2',
    ],
    ['boxes that are ticked or not', `${box(1)}${run(' yes ')}${box(0)}${run(' no')}`, '☒ yes ☐ no'],
  ])('%s is text', async (_name, paragraph, text) => {
    expect((await parse('docx', makeDocxFromXml(`<w:p>${paragraph}</w:p>`))).text).toBe(text)
  })

  test('what stands above and below the pages is text, once', async () => {
    const namespace = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
    const part = (name: string, element: string, text: string) => ({
      name: `word/${name}.xml`,
      content: `<?xml version="1.0"?><w:${element} xmlns:w="${namespace}" xmlns:x="x"><w:p x:a="${name}">${run(text)}</w:p></w:${element}>`,
    })
    const entries = [
      part('header1', 'hdr', 'Byron &amp; Co'),
      part('header2', 'hdr', 'Byron &amp; Co'),
      part('footer1', 'ftr', 'IBAN DE02'),
    ]
    const document = makeDocxFromXml(`<w:p>${run('Dear customer')}</w:p><w:sectPr/>`, { entries })
    expect((await parse('docx', document)).text).toBe('Byron & Co\n\nDear customer\n\nIBAN DE02')
  })

  test('a header that is out of order takes nothing else with it', async () => {
    const content = `<w:hdr><w:p>${run('Byron')}</w:p></w:hdr><!-- </w:hdr> -->`
    const document = makeDocxFromXml(`<w:p>${run('Dear customer')}</w:p>`, {
      entries: [{ name: 'word/header1.xml', content }],
    })
    expect((await parse('docx', document)).text).toBe('Dear customer')
  })

  test('tags without end do not hold up the document', async () => {
    const entries = [{ name: 'word/footnotes.xml', content: '<m:e <w:dir '.repeat(80_000) }]
    expect(await reason('docx', makeDocxFromXml('<w:p/>', { entries }))).toMatch(/damaged/)
  })

  test('comments are text, after that of the document', async () => {
    const namespace = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
    const comment = `<w:comment w:id="0" w:author="Ada Byron" w:initials="AB"><w:p>${run('Is this the ')}<w:bdo w:val="rtl">${run('latest price?')}</w:bdo></w:p></w:comment>`
    const entries = [
      {
        name: 'word/comments.xml',
        content: `<?xml version="1.0"?><w:comments xmlns:w="${namespace}">${comment}</w:comments>`,
      },
    ]
    const mark = '<w:r><w:commentReference w:id="0"/></w:r>'
    const body = `<w:p>${run('It costs 12 €')}${mark}${run(' a month.')}</w:p>`
    expect((await parse('docx', makeDocxFromXml(body, { entries }))).text).toBe(
      'It costs 12 € a month.\n\nComment [AB1]\n\nIs this the latest price?',
    )
    expect((await parse('docx', makeDocxFromXml(body))).text).toBe('It costs 12 € a month.')
  })

  test('marks of notes are left out of the sentence', async () => {
    const body =
      '<w:p><w:r><w:t>See</w:t></w:r><w:hyperlink w:anchor="footnote-1"><w:r><w:t>[1]</w:t></w:r></w:hyperlink><w:r><w:t>.</w:t></w:r></w:p>'
    expect((await parse('docx', makeDocxFromXml(body))).text).toBe('See.')
  })

  test('entities are not expanded', async () => {
    const body = '<w:p><w:r><w:t>a&secret;b</w:t></w:r></w:p>'
    const file = `<!DOCTYPE d [<!ENTITY secret SYSTEM "${import.meta.url}">]>`
    const laughs = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY secret "&a;&a;&a;&a;">]>'
    expect(await reason('docx', makeDocxFromXml(body, { doctype: file }))).toMatch(/damaged/)
    expect(await reason('docx', makeDocxFromXml(body, { doctype: laughs }))).toMatch(/damaged/)
  })

  test('what inflates too far is refused, whatever size it declares', async () => {
    expect(await reason('docx', makeZipBombDocx(limits.ratioFloorBytes + 1))).toMatch(
      /unpacks to far more data/,
    )
  })

  test.each<[string, (bomb: Buffer, end: Buffer) => Uint8Array]>([
    ['not counted', (bomb, end) => Buffer.concat([bomb, end.fill(0, 8, 12)])],
    [
      'told in another place where something stands before it',
      (bomb, end) => {
        const [count, directory] = [end.readUInt16LE(10), end.readUInt32LE(16)]
        const before = Buffer.alloc(directory + count * 46)
        before.write('PK\x03\x04')
        for (let entry = 0; entry < count; entry++) before.write('PK\x01\x02', directory + entry * 46)
        return Buffer.concat([before, bomb, end])
      },
    ],
    [
      'told in records for long archives',
      (bomb, end) => {
        const longEnd = Buffer.alloc(56 + 20)
        longEnd.write('PK\x06\x06')
        longEnd.writeUInt8(44, 4)
        for (const [from, to] of [8, 10, 12, 16].entries())
          end.copy(longEnd, 24 + from * 8, to, to + (from < 2 ? 2 : 4))
        longEnd.write('PK\x06\x07', 56)
        longEnd.writeUInt32LE(bomb.length, 56 + 8)
        const emptyEnd = Buffer.alloc(22)
        emptyEnd.write('PK\x05\x06')
        emptyEnd.writeUInt16LE(0xffff, 4)
        emptyEnd.writeUInt32LE(bomb.length + longEnd.length, 16)
        return Buffer.concat([bomb, longEnd, emptyEnd])
      },
    ],
  ])('a bomb is not opened that is %s', async (_case, hide) => {
    const entry = { name: 'word/media/a.xml', content: Buffer.alloc(limits.ratioFloorBytes + 1) }
    const bomb = Buffer.from(makeDocxFromXml(`<w:p>${run('text')}</w:p>`, { entries: [entry] }))
    const hidden = hide(bomb.subarray(0, -22), bomb.subarray(-22))
    expect(await reason('docx', hidden)).toMatch(/unpacks to far more data|damaged/)
  })

  test('many entries count together', async () => {
    const content = Buffer.alloc(limits.ratioFloorBytes, 'a')
    const count = Math.ceil(limits.inflatedBytes / limits.ratioFloorBytes) + 1
    const [entry] = [{ name: 'word/media/a.xml', content }]
    const entries = Array.from({ length: count }, () => entry)
    expect(await reason('docx', makeDocxFromXml('<w:p/>', { entries }))).toMatch(/unpacks to far more data/)
  })

  test('an older or encrypted document is told from a damaged one', async () => {
    expect(await reason('docx', Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1))).toMatch(
      /protected by a password or of an older/,
    )
  })

  test.each<[string, Uint8Array]>([
    ['no archive', Buffer.from('hello, I am no document at all')],
    ['an archive without a document', makeZip([{ name: 'hello.txt', content: 'hello' }])],
    ['an empty archive', makeZip([])],
    ['an archive cut short', makeDocxFromXml('<w:p/>').subarray(0, 400)],
    ['an archive whose directory points nowhere', makeDocxFromXml('<w:p/>').subarray(50)],
    ['XML nested too deeply', makeDocxFromXml('<w:p>'.repeat(9_000) + '</w:p>'.repeat(9_000))],
  ])('%s is damaged', async (_name, bytes) => {
    expect(await reason('docx', bytes)).toBe('This file is damaged or not a Word document (.docx).')
  })
})

describe('json', () => {
  test('the source stays as it is, with a cut at each line', async () => {
    const source = '{\n  "name": "\\"Tea\\" \\\\n",\n  "price": 3.10\n}'
    const document = await parse('json', source)
    expect(document.text).toBe(source)
    expect(document.spans).toHaveLength(4)
  })

  test.each([
    [String.raw`"M\u00fcnchen \u6771\u4EAC \ud83d\ude00"`, '"München 東京 😀"'],
    [String.raw`"\u003cb\u003e\n\tone\u000atwo \/"`, String.raw`"<b>\n\tone\u000atwo \/"`],
    [String.raw`"\u0022 \" \u005c \\ \\u00fc \\n"`, String.raw`"\" \" \\ \\ \\u00fc \\n"`],
    [String.raw`"c\ud800e"`, '"c\ufffde"'],
  ])('letters that %s writes as escapes are read', async (source, text) => {
    expect((await parse('json', source)).text).toBe(text)
  })

  test('one long line is broken outside of strings, and nothing else changes', async () => {
    const source = JSON.stringify(
      Array.from({ length: 50 }, (_, id) => ({ id, note: 'a, b] and "c" {', tags: [] })),
    )
    const { text } = await parse('json', source)
    const lines = text.split('\n')
    expect(lines.join('')).toBe(source)
    expect(lines.length).toBeGreaterThan(10)
    expect(Math.max(...lines.map(line => line.length))).toBeLessThan(150)
  })

  test('JSON Lines are JSON', async () => {
    expect((await parse('json', '{"a":1}\n\n{"a":2}\n')).text).toBe('{"a":1}\n\n{"a":2}\n')
  })

  test.each([
    [
      'NaN and Infinity as Python writes them',
      '{"peak": NaN, "limit": [Infinity, -Infinity], "note": "NaN \\" Inf"}',
    ],
    ['numbers as R and others write them', '[nan, inf, -Inf, +Infinity]'],
    ['values over several lines each', '{\n  "id": 1,\n  "t": NaN\n}\n{\n  "id": 2\n}\n\n[\n3\n]\n'],
    ['values without anything between them', '{"a":1}{"a":2}[3]'],
    ['lines with such numbers', '{"a":1}\n{"a":NaN}\n"text"\n7\n'],
  ])('%s are read', async (_name, source) => {
    expect((await parse('json', source)).text).toBe(source)
  })

  test('a sequence with record separators is read', async () => {
    expect((await parse('json', '\u001e{"a":\n1}\n\u001e{"a":2}\n')).text).toContain('{"a":2}')
  })

  test.each(['{"a": NaNa}', '{"a": 1}{"a": }', '{"a": 1} and {"a": 2}', '{NaN: 1}', '{"a": 1}}'])(
    '%s is no JSON',
    async source => {
      expect(await reason('json', source)).toMatch(/is not valid JSON/)
    },
  )

  test('what is no JSON is refused with the place', async () => {
    expect(await reason('json', '{"a": 1,}')).toMatch(/^This file is not valid JSON: .*position 8/)
    expect(await reason('json', '{\n"a": 1,\n}')).toMatch(/^This file is not valid JSON: .*line 3/)
    expect(await reason('json', '\n{\n"a": 1,\n}')).toMatch(/^This file is not valid JSON: .*line 4/)
    expect(await reason('json', '{"a": 1}\n\n{"a": 2}\n{"a": }\n')).toMatch(
      /^Line 4 of this file is not valid JSON: Unexpected token '}'[^()]*$/,
    )
  })

  test('depth and number of values are bounded before anything is built', async () => {
    expect(await reason('json', '['.repeat(2_000_000))).toMatch(/more than 1000 levels/)
    expect(await reason('json', `[${'1,'.repeat(limits.jsonMarks)}1]`)).toMatch(/too many values/)
    expect((await parse('json', JSON.stringify('['.repeat(5_000)))).text).toHaveLength(5_002)
  })
})

describe('csv', () => {
  test.each<[string, string, Part[]]>([
    [
      'commas and quoted line breaks',
      'name,note\nTea,"hot\nand green"\nMilk,"5"" high"\n',
      [
        { text: 'name,note', section: 'name, note' },
        { text: 'Tea,"hot\nand green"', section: 'name, note' },
        { text: 'Milk,"5"" high"', section: 'name, note' },
      ],
    ],
    [
      'semicolons, a byte order mark and Windows line breaks',
      '\ufeffName;Preis, netto\r\nTee;3,10\r\n\r\nMilch;1,05',
      [
        { text: 'Name;Preis, netto', section: 'Name, Preis, netto' },
        { text: 'Tee;3,10', section: 'Name, Preis, netto' },
        { text: 'Milch;1,05', section: 'Name, Preis, netto' },
      ],
    ],
    [
      'tabs',
      'a\tb\n\t2\n',
      [
        { text: 'a\tb', section: 'a, b' },
        { text: '2', section: 'a, b' },
      ],
    ],
    [
      'ragged rows',
      'a,b,c\n1,2\n1,2,3,4\n',
      [
        { text: 'a,b,c', section: 'a, b, c' },
        { text: '1,2', section: 'a, b, c' },
        { text: '1,2,3,4', section: 'a, b, c' },
      ],
    ],
    [
      'data without names',
      'Ann,ann@mail.example\nBob,bob@mail.example',
      [{ text: 'Ann,ann@mail.example' }, { text: 'Bob,bob@mail.example' }],
    ],
    [
      'bars',
      'sku|name\n1|Tea, green\n',
      [
        { text: 'sku|name', section: 'sku, name' },
        { text: '1|Tea, green', section: 'sku, name' },
      ],
    ],
    ['quotes that never close', 'a,b\n"c,d\ne,f', [{ text: 'a,b' }, { text: '"c,d' }, { text: 'e,f' }]],
  ])('knows %s', async (_name, source, expected) => {
    expect(parts(await parse('csv', source))).toEqual(expected)
  })

  test.each([
    ['behind a column of row numbers that has none', ',city,2019,2020\n0,Bern,7,8\n', 'city, 2019, 2020'],
    ['before columns that nobody has filled', 'city,mayor,,\nBern,Ann,,\n', 'city, mayor'],
    ['with signs', '_id,$price,#,Date/Time,(left)\n1,2,3,4,5\n', '_id, $price, #, Date/Time, (left)'],
    ['below what tells Excel the delimiter', 'sep=;\ncity;mayor\nBern;Ann\n', 'city, mayor'],
    ['below a title', 'All cities\n\ncity;area\nBern;5,1\n', 'city, area'],
    ['below a title in quotes', '"All cities"\n\ncity,area\nBern,5\n', 'city, area'],
    ['in quotes, over a blank line', '"city\n\nor town",area\nBern,5\n', 'city or town, area'],
    ['below a title in cells', 'All cities,,\n,,\ncity,mayor,area\nBern,Ann,5\n', 'city, mayor, area'],
    ['nowhere, but values with gaps', 'Bern,,Ann\nBasel,Bob,\n', undefined],
    ['nowhere, but lines of text', 'Address\nMain Street, Bern\nHigh Street, Basel\n', undefined],
    ['nowhere, but years', '1999,2004\n2001,2002\n', undefined],
    ['nowhere, but one record', 'Bern,Ann\n', undefined],
    [
      'that begin with digits',
      'Plant;1st quarter;2nd quarter\nOslo;17;18\n',
      'Plant, 1st quarter, 2nd quarter',
    ],
    ['that hold digits, over texts', 'Part,3D model,Owner\nA1,m.stl,Ann\n', 'Part, 3D model, Owner'],
    ['twice', 'Name,Value,Value,Value\nAnn,3,4,5\n', 'Name, Value, Value (2), Value (3)'],
    ['but one', 'Name,,Age\nAnn,x,3\nBob,,4\n', 'Name, column 2, Age'],
    ['that are months', 'Plant,2024-01,2024-02\nOslo,3,4\n', 'Plant, 2024-01, 2024-02'],
    ['that are dates', 'Plant;01.05.2024;02.05.2024\nOslo;3,5;4\n', 'Plant, 01.05.2024, 02.05.2024'],
    ['that count up', 'Plant,1,2,3\nOslo,17,0,18\n', 'Plant, 1, 2, 3'],
    [
      'with colons and addresses',
      'Size: cm,http://schema.org/price\n12,3.50\n',
      'Size: cm, http://schema.org/price',
    ],
    ['that are long', `${'long name '.repeat(20)}a,b\n1,2\n`, `${'long name '.repeat(20)}a, b`],
    ['nowhere, but records with numbers', 'Oslo;17;18\nBergen;3;4\n', undefined],
    ['nowhere, but days', '2024-05-06,Oslo,17\n2024-05-07,Bergen,18\n', undefined],
    ['nowhere, but quantities', 'Bolt;5 kg;red\nNut;3 kg;blue\n', undefined],
  ])('finds the names of columns %s', async (_name, source, section) => {
    const { spans } = await parse('csv', source)
    expect(new Set(spans.map(span => span.section))).toEqual(new Set([section]))
  })
})

describe('wide tables', () => {
  const names = (count: number, of = (at: number) => `attribute ${at}`) =>
    Array.from({ length: count }, (_, at) => of(at))
  const wide = (count: number, rows: string[][]) =>
    [names(count), ...rows].map(row => row.join(';')).join('\n')

  test.each([12, 30, 100, 200])('%i columns are all named beside each row', async count => {
    const rows = ['Ann', 'Bob'].map(first => [first, ...names(count - 1, at => String(at))])
    const { spans } = await parse('csv', wide(count, rows))
    for (const { section } of spans) expect(section).toContain(names(count).join(', '))
  })

  test('a row longer than a passage has its first value in each line', async () => {
    const remarks = names(39, at => `"wrote ""quite"" a long remark; number ${at}"`)
    const { text, spans } = await parse(
      'csv',
      wide(40, [
        ['Ann', ...remarks],
        ['Bob', ...remarks],
      ]),
    )
    const lines = text.slice(text.indexOf('Bob')).trim().split('\n')
    expect(lines.length).toBeGreaterThan(3)
    for (const line of lines) expect(line).toMatch(/^Bob[;\s]/)
    expect(lines.map((line, at) => (at === 0 ? line : line.replace('Bob … ', ''))).join('')).toBe(
      ['Bob', ...remarks].join(';'),
    )
    expect(new Set(spans.map(({ section }) => section))).toEqual(new Set([names(40).join(', ')]))
  })

  test('a value longer than a passage is named beside it', async () => {
    const { spans } = await parse('csv', `name,story\nAnn,${'once upon a time '.repeat(200)}\nBob,short\n`)
    expect(spans.map(({ section }) => section)).toEqual([
      'name, story',
      'name, story',
      'Ann: name, story',
      'name, story',
    ])
  })

  test('more names than can be repeated stand beside the part that they name', async () => {
    const values = ['Bob', ...names(1_999, at => (at % 7 === 0 ? `"v;""${at}"""` : `v${at}`))]
    const { text, spans } = await parse('csv', wide(2_000, [values, values]))
    const sections = spans.map(({ start, end, section }) => [text.slice(start, end), section] as const)
    expect(sections.findLast(([part]) => part.includes('v1998'))?.[1]).toMatch(
      /^(?:attribute \d+, )+attribute 1999$/,
    )
    for (const [, section] of sections) expect(section?.length).toBeLessThan(4_200)
  })
})

test.each<[string, string, (string | undefined)[]]>([
  ['a rule above it', '---\n\n# One\n\ntext\n\n---\n\n# Two\n', [undefined, 'One', 'Two']],
  ['a rule right above it', '---\n# One\n\ntext\n\n---\n', [undefined, 'One']],
  ['front matter with comments above it', '---\n# about\ntitle: x\n# more\n---\n# One\n', [undefined, 'One']],
  ['TOML above it', '+++\n# about\ntitle = "x"\n+++\n# One\n', [undefined, 'One']],
  ['tags', '# Top\n\n<h2 id="x">Glaze <em>blue</em></h2>\n\ntext\n', ['Top', 'Glaze blue']],
  ['attributes', '# Use `<div>` {#anchor .wide}\n\ntext\n', ['Use <div>']],
  ['a comment around others', '# Top\n\n<!--\n# Draft\n\nUnder\n---\n-->\n\n## Next\n', ['Top', 'Next']],
  ['a comment in one line above it', '<!-- # no -->\n# Top\n', [undefined, 'Top']],
  ['code that shows a comment', '```\n<!--\n```\n# Top\n', [undefined, 'Top']],
])('a heading of markdown is found with %s', async (_name, source, sections) => {
  const document = await parse('md', source)
  expect(document.text).toBe(source)
  expect([...new Set(document.spans.map(({ section }) => section))]).toEqual(sections)
})

test('markdown keeps its source, and its headings are sections', async () => {
  expect(parts(await parse('md', '---\ntitle: x\n---\n\n# One\n\ntext\n\n## Two\n\n* more'))).toEqual([
    { text: '---\ntitle: x\n---' },
    { text: '# One\n\ntext', section: 'One' },
    { text: '## Two\n\n* more', section: 'Two' },
  ])
})
