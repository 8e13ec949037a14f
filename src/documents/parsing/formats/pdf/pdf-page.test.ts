/** What stands on a page besides plain text: annotations, layers, lines of mixed directions, letters without names. */
import { describe, expect, test } from 'vitest'
import { assemblePdf, type PdfObject } from '#test/support/documents.ts'
import { UnreadableDocument } from '../../parsed-document.ts'
import { parsePdf } from './pdf.ts'

interface Page {
  /** Drawing commands. */
  content: string
  annotations?: string[]
  resources?: string
  /** Fonts besides F1. */
  fonts?: string
}

interface Made {
  /** Entries of the catalog. */
  catalog?: string
  /** Replaces Helvetica as F1. */
  font?: string
  /** Further objects, numbered from 10. */
  objects?: PdfObject[]
}

const helvetica = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'

function stream(content: string, dictionary = ''): PdfObject {
  return { dictionary, bytes: Buffer.from(content, 'latin1') }
}

/** Objects: 1 catalog, 2 pages, 3 font, 4 to 9 free, 10 and following those given, then pages. */
function made(pages: Page[], { catalog = '', font = helvetica, objects = [] }: Made = {}): Uint8Array {
  const free: PdfObject[] = Array.from({ length: 6 }, () => 'null')
  const all: PdfObject[] = [`<< /Type /Catalog /Pages 2 0 R ${catalog} >>`, '', font, ...free, ...objects]
  const kids = pages.map(({ content, annotations = [], resources = '', fonts = '' }) => {
    const own = all.length
    all.push(stream(content), ...annotations)
    const notes = annotations.map((_, index) => `${own + 2 + index} 0 R`).join(' ')
    all.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R ${fonts} >> ${resources} >> /Contents ${own + 1} 0 R /Annots [${notes}] >>`,
    )
    return `${all.length} 0 R`
  })
  all[1] = `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${kids.length} >>`
  return assemblePdf(all)
}

const drawn = (text: string, y = 700, x = 72) =>
  `BT /F1 11 Tf ${x} ${y} Td (${text.replace(/[()\\]/g, '\\$&')}) Tj ET`

async function textOf(pages: Page[], options?: Made): Promise<string> {
  return (await parsePdf(made(pages, options))).text
}

const kiln = drawn('The kiln burns for nine hours.')
const annotation = (entries: string) => `<< /Type /Annot /Rect [300 600 320 620] ${entries} >>`

describe('annotations', () => {
  test.each([
    [
      'typed onto the page',
      '/Subtype /FreeText /F 4 /Contents (Paid on Monday)',
      'Annotation: Paid on Monday',
    ],
    ['typed, by its author', '/Subtype /FreeText /T (Ines) /Contents (Paid)', 'Annotation by Ines: Paid'],
    [
      'typed, with markup',
      '/Subtype /FreeText /RC (<body><p>Paid twice</p></body>)',
      'Annotation: Paid twice',
    ],
    ['a note', '/Subtype /Text /T (Ines) /Contents (Ask the keeper)', 'Annotation by Ines: Ask the keeper'],
    [
      'a note in several lines',
      '/Subtype /Text /Contents (One\\rTwo\\r\\nThree)',
      'Annotation: One\nTwo\nThree',
    ],
    ['a note in UTF-16', `/Subtype /Text /Contents <feff03a3>`, 'Annotation: Σ'],
    [
      'on what is marked',
      '/Subtype /Highlight /QuadPoints [72 710 200 710 72 695 200 695] /Contents (Too hot)',
      'Annotation: Too hot',
    ],
    [
      'on what is struck out',
      '/Subtype /StrikeOut /QuadPoints [72 710 200 710 72 695 200 695] /Contents (Not ours)',
      'Annotation: Not ours',
    ],
    [
      'on what is underlined',
      '/Subtype /Underline /QuadPoints [72 710 200 710 72 695 200 695] /Contents (Why)',
      'Annotation: Why',
    ],
    ['on a stamp', '/Subtype /Stamp /Contents (Approved by the guild)', 'Annotation: Approved by the guild'],
    ['on a drawing', '/Subtype /Ink /InkList [[1 1 2 2]] /Contents (This corner)', 'Annotation: This corner'],
    ['on a square', '/Subtype /Square /Contents (This box)', 'Annotation: This box'],
    [
      'on an attached file',
      '/Subtype /FileAttachment /FS << /Type /Filespec /F (a.txt) >> /Contents (See file)',
      'Annotation: See file',
    ],
  ])('%s are read behind the text', async (_name, entries, expected) => {
    const text = await textOf([{ content: kiln, annotations: [annotation(entries)] }])
    expect(text).toBe(`The kiln burns for nine hours.\n\n${expected}\n\n`)
  })

  test.each([
    ['hidden', '/Subtype /Text /F 2 /Contents (Unseen)'],
    ['not for screens', '/Subtype /FreeText /F 32 /Contents (Unseen)'],
    ['hidden and printed', '/Subtype /Stamp /F 6 /Contents (Unseen)'],
    ['on a layer that is off', '/Subtype /FreeText /OC 10 0 R /Contents (Unseen)'],
    ['the description of a link', '/Subtype /Link /Contents (Unseen)'],
    ['empty', '/Subtype /Text /T (Unseen) /Contents ( )'],
  ])('%s are not', async (_name, entries) => {
    const catalog = '/OCProperties << /OCGs [10 0 R] /D << /OFF [10 0 R] >> >>'
    const objects = ['<< /Type /OCG /Name (Plan) >>']
    const page = { content: kiln, annotations: [annotation(entries)] }
    expect(await textOf([page], { catalog, objects })).not.toContain('Unseen')
  })

  test('a note and the window that shows it are read once, on their page, from top to bottom', async () => {
    const below = '<< /Type /Annot /Subtype /Text /Rect [0 100 9 109] /Contents (Below) >>'
    const above = annotation('/Subtype /Text /Contents (Above)')
    // The objects of the second page begin with its content, 12.
    const window = '<< /Type /Annot /Subtype /Popup /Rect [50 90 90 109] /Parent 13 0 R >>'
    const pages = [{ content: kiln }, { content: drawn('Two.'), annotations: [below, window, above] }]
    const { text, spans } = await parsePdf(made(pages))
    expect(spans.map(({ start, end, page }) => [page, text.slice(start, end)])).toEqual([
      [1, 'The kiln burns for nine hours.\n\n'],
      [2, 'Two.\n\nAnnotation: Above\n\nAnnotation: Below\n\n'],
    ])
  })
})

describe('layers', () => {
  const groups = (defaults: string) => ({
    catalog: `/OCProperties << /OCGs [10 0 R 11 0 R 12 0 R] /D << ${defaults} >> >>`,
    objects: [
      '<< /Type /OCG /Name (Draft) >>',
      '<< /Type /OCG /Name (Plan) >>',
      '<< /Type /OCG /Name (Print) /Usage << /View << /ViewState /OFF >> /Print << /PrintState /ON >> >> >>',
      '<< /Type /OCMD /OCGs [10 0 R 11 0 R] /P /AllOn >>',
      '<< /Type /OCMD /OCGs [10 0 R 11 0 R] /P /AnyOn >>',
      '<< /Type /OCMD /OCGs [10 0 R] /P /AllOff >>',
      '<< /Type /OCMD /VE [/Not 10 0 R] >>',
      '<< /Type /OCMD /VE [/And 10 0 R [/Or 11 0 R 10 0 R]] >>',
      stream(
        drawn('In a form.', 500),
        '/Type /XObject /Subtype /Form /BBox [0 0 612 792] /OC 10 0 R /Resources << /Font << /F1 3 0 R >> >>',
      ),
      stream(
        drawn('In a form.', 500),
        '/Type /XObject /Subtype /Form /BBox [0 0 612 792] /OC 11 0 R /Resources << /Font << /F1 3 0 R >> >>',
      ),
    ],
  })
  const resources = `/Properties << ${['L0', 'L1', 'L2', 'L3', 'L4', 'L5', 'L6', 'L7'].map((name, index) => `/${name} ${10 + index} 0 R`).join(' ')} >> /XObject << /X1 18 0 R /X2 19 0 R >>`
  const on = (layer: string, commands: string) => `/OC /${layer} BDC ${commands} EMC`
  const off = '/OFF [10 0 R]'
  const inside = drawn('In a layer.', 600)

  test.each<[string, string, string, boolean]>([
    ['that is off', off, on('L0', inside), false],
    ['that is on', off, on('L1', inside), true],
    ['that is named on', '/BaseState /OFF /ON [10 0 R]', on('L0', inside), true],
    ['where all are off', '/BaseState /OFF /ON [10 0 R]', on('L1', inside), false],
    ['that is for print alone', '', on('L2', inside), false],
    ['of which all must be on', off, on('L3', inside), false],
    ['of which one must be on', off, on('L4', inside), true],
    ['that must be off', off, on('L5', inside), true],
    ['that must be off, and is on', '', on('L5', inside), false],
    ['that is not the other', off, on('L6', inside), true],
    ['that is not the other, which is on', '', on('L6', inside), false],
    ['by an expression', off, on('L7', inside), false],
    ['that is on inside of one that is off', off, on('L0', on('L1', inside)), false],
    ['that is off inside of one that is on', off, on('L1', on('L0', inside)), false],
    [
      'with marks inside',
      off,
      on('L0', `/P << /MCID 1 >> BDC ${inside} EMC ${drawn('In a layer, too.', 590)}`),
      false,
    ],
    ['before others', off, on('L0', inside) + drawn('In a layer.', 550), true],
    [
      'within a word',
      off,
      `BT /F1 11 Tf 72 600 Td (In a ) Tj /OC /L0 BDC (dark ) Tj EMC (layer.) Tj ET`,
      true,
    ],
    ['of a form that is off', off, '/X1 Do', false],
    ['of a form that is on', off, '/X2 Do', true],
  ])('text on a layer %s', async (_name, defaults, content, isRead) => {
    const text = await textOf([{ content: `${kiln} ${content}`, resources }], groups(defaults))
    expect(text).toContain('The kiln burns for nine hours.')
    expect(/In a (?:layer|form)/.test(text.replace(/\s+/g, ' '))).toBe(isRead)
    expect(text).not.toContain('dark')
  })

  test('leave the text of a page as it is, and are named if they hide some', async () => {
    const form =
      "/X2 Do q 2 0 0 2 10 20 cm BT /F1 9 Tf 14 TL 2 Tc 5 Tw 90 Tz 30 200 Td (One two) Tj T* [(th) -20 (ree) -400 (four)] TJ (five) ' ET Q"
    const page = { content: `${kiln} ${form}`, resources }
    expect(await textOf([page], groups(''))).toBe(
      await textOf([{ ...page, content: `${kiln} ${form}` }], { objects: groups('').objects }),
    )
    const hidden = await parsePdf(made([{ content: `${kiln} ${on('L0', inside)}`, resources }], groups(off)))
    expect(hidden.warnings).toEqual(['Text on layers that are switched off was not read: Draft, Print.'])
  })
})

/** A font whose codes are Unicode, with or without the map that says so. */
function compositeFont(isNamed: boolean): Made {
  const descendant =
    '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /ABCDEF+Kiln /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 11 0 R /DW 500 >>'
  const descriptor =
    '<< /Type /FontDescriptor /FontName /ABCDEF+Kiln /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>'
  const map = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def
1 begincodespacerange <0000> <ffff> endcodespacerange
5 beginbfrange <0020> <007e> <0020> <0590> <06ff> <0590> <e000> <e0ff> <e000> <fb50> <fbff> <fb50> <fe70> <fefc> <fe70> endbfrange endcmap end end`
  const font = `<< /Type /Font /Subtype /Type0 /BaseFont /ABCDEF+Kiln /Encoding /Identity-H /DescendantFonts [10 0 R] ${isNamed ? '/ToUnicode 12 0 R' : ''} >>`
  return { font, objects: [descendant, descriptor, stream(map)] }
}

const hex = (text: string) =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, '0')).join('')
const size = 12

/** Each text as it is seen from the left, with its left edge; all letters are half as wide as high. */
function seen(lines: [text: string, x: number, y: number][]): Uint8Array {
  const content = lines.map(([text, x, y]) => `BT /F1 ${size} Tf 1 0 0 1 ${x} ${y} Tm <${hex(text)}> Tj ET`)
  return made([{ content: content.join('\n') }], compositeFont(true))
}

/** The line ends at the right margin, as paragraphs from the right do. */
const fromRight = (text: string, y: number): [string, number, number] => [
  text,
  540 - (text.length * size) / 2,
  y,
]
const reversed = (text: string) => [...text].reverse().join('')

describe('lines that mix directions', () => {
  const hebrew = reversed('שלום לכל העולם היפה')
  const arabic = reversed('مرحبا بكم في المدينة')

  test('words of another direction behind a wide gap, alone on their line', async () => {
    const { text } = await parsePdf(
      seen([
        ['Model X-100', 200, 700],
        [reversed('שלום עולם יפה'), 300, 700],
      ]),
    )
    expect(text.trim()).toBe('שלום עולם יפה Model X-100')
  })

  // As it is seen from the left, and as it is typed.
  test.each([
    [
      'Latin words and numbers at the end',
      `Model X-100 ${reversed('התנור הזה הוא')}`,
      'התנור הזה הוא Model X-100',
    ],
    [
      'Latin words between',
      `${reversed('נשרף היום')} Model X-100 ${reversed('התנור')}`,
      'התנור Model X-100 נשרף היום',
    ],
    [
      'two Latin words between',
      `${reversed('ועוד')} Kiln Company ${reversed('חברת')}`,
      'חברת Kiln Company ועוד',
    ],
    ['a number between', `${reversed('מעלות היום')} 1280 ${reversed('התנור')}`, 'התנור 1280 מעלות היום'],
    ['a number with signs', `${reversed('לפני מס')} 1,250.50 ${reversed('המחיר')}`, 'המחיר 1,250.50 לפני מס'],
    ['a price', `${reversed('לפני מס')} $1,250 ${reversed('המחיר')}`, 'המחיר $1,250 לפני מס'],
    ['a share', `${reversed('מן הלבנים')} 45% ${reversed('רק')}`, 'רק 45% מן הלבנים'],
    ['a date', `${reversed('ביום')} 12/03/2024 ${reversed('נשרף')}`, 'נשרף 12/03/2024 ביום'],
    ['a range', `${reversed('שעות')} 10-20 ${reversed('אחרי')}`, 'אחרי 10-20 שעות'],
    ['two numbers', `200 100 ${reversed('הלבנים הן')}`, 'הלבנים הן 100 200'],
    ['a prefix before a number', `2024-${reversed('נשרף ב')}`, 'נשרף ב-2024'],
    ['a prefix before a Latin word', `API-${reversed('שימוש ב')}`, 'שימוש ב-API'],
    ['a language', `++C ${reversed('נכתב בשפת')}`, 'נכתב בשפת C++'],
    ['a full stop', `.Model X ${reversed('זה התנור')}`, 'זה התנור Model X.'],
    ['brackets', `${reversed('היום')} (${reversed('החדש')}) ${reversed('התנור')}`, 'התנור (החדש) היום'],
    ['brackets as they are meant', reversed('התנור (החדש) היום'), 'התנור (החדש) היום'],
    [
      'brackets around Latin words',
      `${reversed('היום')} (Model X) ${reversed('התנור')}`,
      'התנור (Model X) היום',
    ],
    ['brackets around a number', `${reversed('היום')} (1280) ${reversed('התנור')}`, 'התנור (1280) היום'],
    [
      'brackets among Latin words',
      `${reversed('היום')} Model (X) ${reversed('התנור')}`,
      'התנור Model (X) היום',
    ],
    ['square brackets', `[1] ${reversed('התנור החדש')}`, 'התנור החדש [1]'],
    ['angle brackets', `<X> ${reversed('התנור החדש')}`, 'התנור החדש <X>'],
    ['an address', `info@kiln.example ${reversed('כתבו אל')}`, 'כתבו אל info@kiln.example'],
  ])('Hebrew with %s', async (_name, line, typed) => {
    const { text } = await parsePdf(
      seen([fromRight(hebrew, 700), fromRight(line, 686), fromRight(hebrew, 672)]),
    )
    expect(text.split('\n')[1]).toBe(typed)
    const alone = await parsePdf(seen([['The kiln is fired.', 72, 720], fromRight(line, 686)]))
    expect(alone.text).toContain(`fired.\n${typed}\n`)
  })

  test.each([
    ['Latin words', `${reversed('اليوم')} Model X-100 ${reversed('الفرن')}`, 'الفرن Model X-100 اليوم'],
    ['a number', `${reversed('درجة')} 1280 ${reversed('الفرن')}`, 'الفرن 1280 درجة'],
    ['digits of its own', `${reversed('درجة')} ١٢٨٠ ${reversed('الفرن')}`, 'الفرن ١٢٨٠ درجة'],
    ['a date', `${reversed('يوم')} 12-03-2024 ${reversed('الفرن')}`, 'الفرن 2024-03-12 يوم'],
    ['a date with strokes', `${reversed('يوم')} 12/03/2024 ${reversed('الفرن')}`, 'الفرن 12/03/2024 يوم'],
    ['a share', `%45 ${reversed('الفرن')}`, 'الفرن 45%'],
    ['brackets', `(${reversed('الجديد')}) ${reversed('الفرن')}`, 'الفرن (الجديد)'],
    ['marks', reversed('مُدَرِّس'), 'مُدَرِّس'],
    ['letters in their forms', '\ufedf\ufea8'.split('').reverse().join(''), 'لخ'],
    ['a ligature', `\ufefb ${reversed('قال')}`, 'قال لا'],
    ['signs of its own', reversed('متى؟ اليوم، غدا'), 'متى؟ اليوم، غدا'],
  ])('Arabic with %s', async (_name, line, typed) => {
    const { text } = await parsePdf(
      seen([fromRight(arabic, 700), fromRight(line, 686), fromRight(arabic, 672)]),
    )
    expect(text.split('\n')[1]).toBe(typed)
  })

  const english = 'The kiln that stands in the yard behind the guild is called'
  test.each([
    ['a Hebrew word', `the ${reversed('תנור')} by all`, 'the תנור by all'],
    ['Hebrew words', `the ${reversed('תנור חדש')} by all`, 'the תנור חדש by all'],
    ['Hebrew words in brackets', `kiln (${reversed('תנור חדש')}) by all`, 'kiln (תנור חדש) by all'],
    ['more Hebrew than Latin', `${reversed('תנור חדש מאוד ויפה')} in it`, 'תנור חדש מאוד ויפה in it'],
    ['a number among Hebrew', `the ${reversed('תנור')} 12 ${reversed('מספר')} here`, 'the מספר 12 תנור here'],
    ['Arabic words', `the ${reversed('فرن جديد')} by all`, 'the فرن جديد by all'],
  ])('English with %s', async (_name, line, typed) => {
    const { text } = await parsePdf(
      seen([
        [english, 72, 700],
        [line, 72, 686],
        [english, 72, 672],
      ]),
    )
    expect(text).toBe(`${english}\n${typed}\n${english}\n\n`)
  })

  test('each paragraph goes in its own direction', async () => {
    const lines: [string, number, number][] = [
      ...[700, 686].map((y): [string, number, number] => [english, 72, y]),
      [`the ${reversed('תנור')} Kiln.`, 72, 672],
      fromRight(hebrew, 630),
      fromRight(`Big Kiln Company ${reversed('של')}`, 616),
      fromRight(`.${hebrew}`, 602),
    ]
    expect((await parsePdf(seen(lines))).text.trim().split(/\n+/).slice(2)).toEqual([
      'the תנור Kiln.',
      'שלום לכל העולם היפה',
      'של Big Kiln Company',
      'שלום לכל העולם היפה.',
    ])
  })

  test('words and letters drawn one by one are put together', async () => {
    const letters = [...'התנור 1280 מעלות'].map((letter, at): [string, number, number] => [
      letter,
      500 - at * 6,
      700,
    ])
    const digits = letters.map(([letter, x, y], at): [string, number, number] =>
      /\d/.test(letter) ? ['1280'[at - 6] ?? '', 500 - (6 + 3 - (at - 6)) * 6, y] : [letter, x, y],
    )
    expect((await parsePdf(seen(digits.filter(([letter]) => letter !== ' ')))).text.trim()).toBe(
      'התנור 1280 מעלות',
    )
  })
})

describe('letters without names', () => {
  const shifted = (text: string, by: number) =>
    hex([...text].map(letter => String.fromCharCode(letter.charCodeAt(0) - by)).join(''))
  const show = (codes: string) => ({ content: `BT /F1 11 Tf 72 700 Td <${codes}> Tj ET` })
  const names = (prefix: string) =>
    `<< /Type /Font /Subtype /Type1 /BaseFont /Kiln /FirstChar 65 /LastChar 122 /Widths [${Array(58).fill(500).join(' ')}] /Encoding << /Type /Encoding /Differences [65 ${Array.from({ length: 58 }, (_, at) => `/${prefix}${at + 12}`).join(' ')}] >> >>`

  test.each<[string, Page, Made]>([
    [
      'a sentence in the order of TrueType',
      show(shifted('The kiln in the yard was fired again', 29)),
      compositeFont(false),
    ],
    ['two words', show(shifted('kiln yard', 29)), compositeFont(false)],
    ['one word', show(shifted('kiln', 29)), compositeFont(false)],
    ['capitals', show(shifted('TOTAL AMOUNT', 29)), compositeFont(false)],
    ['numbers and words', show(shifted('Kiln 4711 costs 1.250,00', 29)), compositeFont(false)],
    ['in the order of OpenType', show(shifted('The kiln in the yard', 31)), compositeFont(false)],
    ['in the order of use', show('000100020003000400050006'), compositeFont(false)],
    ['of another alphabet', show('023e024202430240023f024502410246'), compositeFont(false)],
    ['for private use', show('e012e013e014'), compositeFont(true)],
    ['named by numbers', { content: drawn('XKZT WQPL') }, { font: names('G') }],
    ['named by numbers, small', { content: drawn('XKZT WQPL') }, { font: names('g') }],
    ['named by numbers and words', { content: drawn('XKZT WQPL') }, { font: names('cid') }],
    ['as numbers in brackets', { content: drawn('(cid:12)(cid:3)(cid:45)') }, {}],
    ['as numbers with spaces', { content: drawn('(cid:12) (cid:3) (cid:45) (cid:7)') }, {}],
    ['as names', { content: drawn('/G12/G3/G45/G2') }, {}],
    ['as names with spaces', { content: drawn('/g12 /g33 /g4 /g17') }, {}],
  ])('%s end in an error', async (_name, page, options) => {
    const failed = parsePdf(made([page], options))
    await expect(failed).rejects.toThrow(UnreadableDocument)
    await expect(failed).rejects.toThrow(/do not tell which letters they draw/)
  })

  test.each<[string, Page, Made]>([
    ['a sentence', show(hex('The kiln in the yard')), compositeFont(true)],
    ['capitals without vowels', show(hex('PDF HTML GMBH')), compositeFont(true)],
    ['a code', { content: drawn('XKZT-4711 WQPL') }, {}],
    ['an amount', { content: drawn('$ 1,250.50 (+ 19 %)') }, {}],
    ['Unicode by the codes', show(hex('The kiln in the yard')), compositeFont(false)],
    [
      'names that a text is about',
      { content: drawn('The reader writes (cid:12) where a font names no letter.') },
      {},
    ],
    ['a path', { content: drawn('See /etc/kiln and /A4 paper.') }, {}],
  ])('%s is read', async (_name, page, options) => {
    expect((await parsePdf(made([page], options))).text).toMatch(/\S/)
  })
})

describe('warnings', () => {
  const picture = '/XObject << /I1 10 0 R >>'
  const objects = [
    stream(
      'x',
      '/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8',
    ),
    '<< /Type /Filespec /F (prices.txt) /EF << /F 12 0 R >> >>',
    stream('Tin 8', '/Type /EmbeddedFile'),
  ]
  const scan = { content: 'q 612 0 0 792 0 0 cm /I1 Do Q', resources: picture }
  const attached = '/Names << /EmbeddedFiles << /Names [(prices.txt) 11 0 R] >> >>'

  test.each<[string, Page[], string, RegExp[]]>([
    [
      'a page that is a picture',
      [{ content: kiln }, scan, { content: kiln }, scan],
      '',
      [/pages that show something: 2, 4\./],
    ],
    ['a page that is empty', [{ content: kiln }, { content: '' }], '', []],
    ['a picture beside text', [{ content: `${scan.content} ${kiln}`, resources: picture }], '', []],
    [
      'a picture with a note',
      [{ content: kiln }, { ...scan, annotations: [annotation('/Subtype /Text /Contents (Fig)')] }],
      '',
      [/: 2\./],
    ],
    ['attached files', [{ content: kiln }], attached, [/^Attached files were not read: prices\.txt\./]],
  ])('%s', async (_name, pages, catalog, expected) => {
    const { warnings = [] } = await parsePdf(made(pages, { catalog, objects }))
    expect(warnings).toEqual(expected.map(pattern => expect.stringMatching(pattern)))
  })

  test('letters without names beside others', async () => {
    const { font = '', objects: parts = [] } = compositeFont(false)
    const page = { content: `${kiln} BT /F2 11 Tf 72 500 Td <0037004800560003> Tj ET`, fonts: '/F2 13 0 R' }
    const { text, warnings } = await parsePdf(made([page], { objects: [...parts, font] }))
    expect(text).toBe('The kiln burns for nine hours.\n\n')
    expect(warnings).toEqual([expect.stringMatching(/left out whose fonts .*: Kiln\.$/)])
  })
})
