import { describe, expect, test } from 'vitest'
import { characterWidth, makeDrawnPdf, makeVerticalPdf, type PlacedText } from '#test/support/documents.ts'
import { seededRandom } from '#test/support/random.ts'
import { parsePdf } from './pdf.ts'

const syllables = [
  'ba',
  'ce',
  'di',
  'fo',
  'gu',
  'lan',
  'mer',
  'nist',
  'por',
  'rut',
  'sel',
  'tov',
  'wick',
  'yan',
  'zel',
]

/** Words that are all different, the same in every run. */
function wordsFrom(seed: number, count: number): string[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, (_, index) => {
    const word = Array.from({ length: 1 + Math.floor(random.next() * 3) }, () => random.pick(syllables)).join(
      '',
    )
    return `${word}${index.toString(36)}`
  })
}

interface Block {
  x: number
  /** Of its first baseline. */
  y: number
  width: number
  size?: number
  leading?: number
  /** Lines from which a blank line is left. */
  paragraphs?: number[]
}

/** The words in lines of that width. */
function block(
  words: string[],
  { x, y, width, size = 10, leading = 12, paragraphs = [] }: Block,
): PlacedText[] {
  const lines: string[] = []
  const length = Math.floor(width / (size * characterWidth))
  for (const word of words) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > length) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.map((text, index) => {
    const blank = paragraphs.filter(line => line <= index).length
    return { text, x, y: y - (index + blank) * leading, size }
  })
}

/** The column with footnotes in small letters below. */
function withNotes(column: PlacedText[], words: string[]): PlacedText[] {
  const { x = 0, y = 0 } = column.at(-1) ?? {}
  return [...column, ...block(words, { x, y: y - 20, width: 235, size: 8, leading: 9 })]
}

/** A row of a table from top to bottom for each `y`. */
function table(rows: string[][], xs: number[], y: number, leading = 14): PlacedText[] {
  return rows.flatMap((cells, row) =>
    cells
      .map((text, column) => ({ text, x: xs[column] ?? 0, y: y - row * leading }))
      .filter(({ text }) => text !== ''),
  )
}

/** Ways of drawing the same page. */
const drawings: [string, (texts: PlacedText[]) => PlacedText[]][] = [
  ['as it is read', texts => texts],
  ['from the end', texts => texts.toReversed()],
  [
    'line by line over all columns',
    texts => texts.toSorted((one, other) => other.y - one.y || one.x - other.x),
  ],
  ['column by column', texts => texts.toSorted((one, other) => one.x - other.x || other.y - one.y)],
  ['in any order', shuffled],
  ['word by word in any order', texts => shuffled(texts.flatMap(wordByWord))],
  ['in parts of words in any order', texts => shuffled(texts.flatMap(partByPart))],
]

function shuffled(texts: PlacedText[]): PlacedText[] {
  const random = seededRandom(5)
  return texts
    .map(text => ({ text, place: random.next() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ text }) => text)
}

function wordByWord(placed: PlacedText): PlacedText[] {
  return [...placed.text.matchAll(/\S+/g)].map(word => partOf(placed, word[0], word.index))
}

function partByPart(placed: PlacedText): PlacedText[] {
  return [...placed.text.matchAll(/\S{1,3}/g)].map(part => partOf(placed, part[0], part.index))
}

function partOf(placed: PlacedText, text: string, index: number): PlacedText {
  const { x, y, size = 10, turned = 0 } = placed
  const along = index * size * characterWidth
  const angle = (turned * Math.PI) / 180
  return { ...placed, text, x: x + along * Math.cos(angle), y: y + along * Math.sin(angle) }
}

async function wordsOf(bytes: Uint8Array): Promise<string[]> {
  return (await parsePdf(bytes)).text.split(/\s+/).filter(word => word !== '')
}

const [first, second, third, heading, other] = [
  wordsFrom(1, 150),
  wordsFrom(2, 150),
  wordsFrom(3, 90),
  wordsFrom(4, 5),
  wordsFrom(6, 60),
]

/** Pages in the order in which they are read. */
const pages: [string, PlacedText[]][] = [
  ['one column', block(first, { x: 50, y: 780, width: 480, paragraphs: [4, 9] })],
  [
    'two columns',
    [...block(first, { x: 50, y: 780, width: 235 }), ...block(second, { x: 305, y: 780, width: 235 })],
  ],
  [
    'two columns whose lines are not at the same height, with paragraphs',
    [
      ...block(first, { x: 50, y: 780, width: 235, paragraphs: [5, 11] }),
      ...block(second, { x: 305, y: 774.5, width: 235, leading: 12.7, paragraphs: [8] }),
    ],
  ],
  [
    'two columns with the same paragraphs',
    [
      ...block(first, { x: 50, y: 780, width: 235, paragraphs: [5, 11] }),
      ...block(second, { x: 305, y: 780, width: 235, paragraphs: [5, 11] }),
    ],
  ],
  [
    'two columns, the second of which ends above a picture and goes on below it',
    [
      ...block(first, { x: 50, y: 780, width: 235 }),
      ...block(third, { x: 305, y: 780, width: 235 }),
      ...block(other, { x: 305, y: 500, width: 235 }),
    ],
  ],
  [
    'three columns',
    [
      ...block(first, { x: 50, y: 780, width: 155, size: 8, leading: 10 }),
      ...block(second, { x: 220, y: 780, width: 155, size: 8, leading: 10 }),
      ...block(third, { x: 390, y: 780, width: 155, size: 8, leading: 10 }),
    ],
  ],
  [
    'a title, columns, a heading over all of them, more columns, and a footer',
    [
      ...block(heading, { x: 120, y: 800, width: 400, size: 16 }),
      ...block(first.slice(0, 70), { x: 50, y: 760, width: 235 }),
      ...block(second.slice(0, 70), { x: 305, y: 760, width: 235 }),
      { text: 'Short heading', x: 50, y: 540, size: 14 },
      ...block(first.slice(70), { x: 50, y: 518, width: 235 }),
      ...block(second.slice(70), { x: 305, y: 518, width: 235 }),
      { text: 'Page 7', x: 280, y: 40 },
    ],
  ],
  [
    'columns with footnotes of their own, and a line at the margins above and below',
    [
      { text: 'Journal of Lamps', x: 50, y: 810 },
      { text: 'Volume 3', x: 440, y: 810 },
      ...withNotes(block(first, { x: 50, y: 780, width: 235 }), heading),
      ...withNotes(block([...second, ...other], { x: 305, y: 780, width: 235 }), third.slice(0, 30)),
      { text: '17', x: 50, y: 40 },
    ],
  ],
  [
    'columns, and footnotes below both',
    [
      ...block(first, { x: 50, y: 780, width: 235 }),
      ...block(second, { x: 305, y: 780, width: 235 }),
      ...block(other, { x: 50, y: 340, width: 490, size: 8, leading: 9 }),
    ],
  ],
  [
    'a text, a table, and more text',
    [
      ...block(first.slice(0, 50), { x: 50, y: 780, width: 480 }),
      ...table(
        [
          ['Region', 'Spring', 'Summer', 'Autumn total'],
          ['North coast', '12', '1,500', '7'],
          ['South', '9', '480', '15'],
          ['New lands', '1', '20', 'none'],
        ],
        [50, 180, 290, 400],
        650,
      ),
      ...block(first.slice(50), { x: 50, y: 570, width: 480 }),
    ],
  ],
  [
    'columns, the first of which holds a table',
    [
      ...block(third, { x: 50, y: 780, width: 235 }),
      ...table(
        [
          ['Lamp', 'Price'],
          ['Brass', '40'],
          ['Glass', '100'],
          ['Tin', '8'],
        ],
        [60, 200],
        500,
        12,
      ),
      ...block(other, { x: 50, y: 440, width: 235 }),
      ...block(second, { x: 305, y: 780, width: 235 }),
    ],
  ],
  [
    'a table whose cells have several lines, with space between its rows',
    [0, 1, 2].flatMap(row => [
      ...block(first.slice(row * 20, row * 20 + 3), { x: 50, y: 780 - row * 110, width: 90 }),
      ...block(second.slice(row * 20, row * 20 + 20), { x: 160, y: 780 - row * 110, width: 170 }),
      ...block(third.slice(row * 20, row * 20 + 9), { x: 350, y: 780 - row * 110, width: 170 }),
    ]),
  ],
  [
    'a list of dates beside what happened',
    [0, 1, 2, 3].flatMap(row => [
      { text: `19${row}7 to 19${row}9`, x: 50, y: 780 - row * 48 },
      ...block(second.slice(row * 20, row * 20 + 17), { x: 160, y: 780 - row * 48, width: 370 }),
    ]),
  ],
]

/** The same in a table of which rows have cells that are empty, or go on in a second line. */
const tables: [string, PlacedText[], string][] = [
  [
    'with empty cells',
    table(
      [
        ['Lamp', 'Brass', 'Glass'],
        ['Oil', '', '12'],
        ['Gas', '9', ''],
      ],
      [50, 200, 350],
      780,
    ),
    'Lamp\tBrass\tGlass\nOil\t12\nGas\t9',
  ],
  [
    'with cells that go on',
    [
      ...table([['Oil lamp', 'burns for many hours and', '12']], [50, 200, 400], 780),
      ...table([['gives a warm light', '']], [200, 400], 768),
      ...table([['Gas', 'is bright', '30']], [50, 200, 400], 756),
    ],
    'Oil lamp\tburns for many hours and gives a warm light\t12\nGas\tis bright\t30',
  ],
]

const stock = [
  ['Lamp', 'Price', 'Stock'],
  ['Brass', '40.50', '7'],
  ['Glass', '100.00', '12'],
  ['Tin', '8.25', '150'],
]
const stockColumns = [50, 200, 350]
const stockRows = stock.map(row => row.join('\t')).join('\n')
const textAbove = [
  'The lamps that the keeper of the tower has in store are listed here with their prices, as',
  'they were counted by',
]

/** Lines that stand around a table, whose first row is at 700. */
const surroundings: [string, PlacedText[]][] = [
  ['a heading over its first column', [{ text: 'Lamps in store', x: 50, y: 714 }]],
  [
    'a heading that ends in its second column',
    [{ text: 'Lamps that the keeper has in store', x: 50, y: 714 }],
  ],
  [
    'a heading that ends in its third column',
    [{ text: 'Lamps that the keeper of the tower at the coast has in store', x: 50, y: 714 }],
  ],
  [
    'a heading over all columns',
    [{ text: 'Lamps that the keeper of the tower at the coast has in store in spring', x: 50, y: 714 }],
  ],
  ['a large heading', [{ text: 'Lamps in the store of the tower', x: 50, y: 720, size: 16 }]],
  ['a caption in the middle', [{ text: 'Table 3. Lamps in the store', x: 150, y: 714 }]],
  ['a caption beyond a blank line', [{ text: 'Table 3. Lamps in the store of the tower', x: 50, y: 728 }]],
  [
    'a paragraph that ends in its first column',
    [...textAbove, 'hand.'].map((text, line) => ({ text, x: 50, y: 742 - line * 14 })),
  ],
  [
    'a paragraph that ends in its second column',
    textAbove.map((text, line) => ({
      text: line === 1 ? `${text} the keeper.` : text,
      x: 50,
      y: 728 - line * 14,
    })),
  ],
  [
    'a paragraph that ends in its third column',
    textAbove.map((text, line) => ({
      text: line === 1 ? `${text} the keeper himself on the first day of spring.` : text,
      x: 50,
      y: 728 - line * 14,
    })),
  ],
  [
    'a header with a gap',
    [
      { text: 'Journal of Lamps and Towers', x: 50, y: 714 },
      { text: 'Page 7', x: 400, y: 714 },
    ],
  ],
  [
    'a header far above, with a gap',
    [
      { text: 'Journal of Lamps and Towers', x: 50, y: 800 },
      { text: 'Page 7', x: 400, y: 800 },
    ],
  ],
  ['a note below over two columns', [{ text: 'Prices are those of the keeper.', x: 50, y: 644 }]],
  [
    'a note below over all columns',
    [{ text: 'Prices are those of the keeper of the tower, and go without any tax.', x: 50, y: 644 }],
  ],
  [
    'lines above and below',
    [
      { text: 'Lamps that the keeper has in store', x: 50, y: 714 },
      { text: 'Prices are those of the keeper.', x: 50, y: 644 },
    ],
  ],
]

test.each(surroundings)('a table keeps its rows beside %s', async (_name, around) => {
  for (const [drawing, drawn] of drawings.slice(0, 5)) {
    const { text } = await parsePdf(makeDrawnPdf(drawn([...table(stock, stockColumns, 700), ...around])))
    expect(text, drawing).toContain(stockRows)
    for (const line of around) expect(text, drawing).toContain(line.text)
  }
})

test.each<[string, string[][]]>([
  [
    'a line over two columns between its rows',
    [...stock.slice(0, 2), ['Lamps that burn the oil of olives', '', ''], ...stock.slice(2)],
  ],
  [
    'a cell over two columns',
    [...stock.slice(0, 2), ['Lamps that burn the oil of olives', '', '3'], ...stock.slice(2)],
  ],
  [
    'names that are equally long',
    [
      ['Name of a lamp', 'Price'],
      ['Lamp of red brass', '40.50'],
      ['Lamp of old glass', '100.00'],
      ['Lamp of thin tin.', '8.25'],
      ['Lamp of pure gold', '900.00'],
    ],
  ],
  [
    'names and notes that are equally long',
    [
      ['Name of a lamp', 'Price', 'Note on its use'],
      ['Lamp of red brass', '40.50', 'burns all the night'],
      ['Lamp of old glass', '100.00', 'burns till midnight'],
      ['Lamp of thin tin.', '8.25', 'burns for one hour.'],
      ['Lamp of pure gold', '900.00', 'burns day and night'],
    ],
  ],
])('a table keeps its rows with %s', async (_name, rows) => {
  const expected = rows.map(row => row.filter(cell => cell !== '').join('\t'))
  for (const heading of [
    'Lamps',
    'Lamps that the keeper has in store',
    'Lamps that the keeper of the tower at the coast has',
  ]) {
    const { text } = await parsePdf(
      makeDrawnPdf([{ text: heading, x: 50, y: 714 }, ...table(rows, stockColumns, 700)]),
    )
    expect(text.trim().split('\n'), heading).toEqual([heading, ...expected])
  }
})

describe('the words of a page are read in their order', () => {
  test.each(pages)('%s', async (_name, texts) => {
    const source = texts.flatMap(({ text }) => text.split(' '))
    for (const [drawing, drawn] of drawings) {
      expect(await wordsOf(makeDrawnPdf(drawn(texts))), drawing).toEqual(source)
    }
  })
})

test.each(tables)('a table %s is read row by row', async (_name, texts, expected) => {
  for (const [drawing, drawn] of drawings.slice(0, 5))
    expect((await parsePdf(makeDrawnPdf(drawn(texts)))).text.trim(), drawing).toBe(expected)
})

/** Turned to the left, around the middle of what stands in the upper half of a page. */
function turned(texts: PlacedText[], degrees: number): PlacedText[] {
  const [along, across] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)]
  return texts.map(({ x, y, ...text }) => ({
    ...text,
    x: 297 + (x - 295) * along - (y - 600) * across,
    y: 421 + (x - 295) * across + (y - 600) * along,
    turned: degrees,
  }))
}

describe.each(['two columns', 'a text, a table, and more text'])('turned: %s', name => {
  const texts = pages.find(([title]) => title === name)?.[1] ?? []
  const source = texts.flatMap(({ text }) => text.split(' '))

  test.each([90, 180, 270])('with the page, by %d degrees', async degrees => {
    const bytes = makeDrawnPdf(shuffled(turned(texts, degrees)), `/Rotate ${degrees}`)
    expect(await wordsOf(bytes)).toEqual(source)
  })

  test.each([90, 180, 270, 1.3])('on a page that is upright, by %d degrees', async degrees => {
    expect(await wordsOf(makeDrawnPdf(shuffled(turned(texts, degrees))))).toEqual(source)
  })

  test('in a page with notes that are turned', async () => {
    const note = turned(
      [
        { text: 'Seen by', x: 100, y: 870 },
        { text: 'the keeper', x: 100, y: 858 },
      ],
      90,
    )
    const stamp = { text: 'Not for sale', x: 150, y: 150, turned: 45 }
    expect(await wordsOf(makeDrawnPdf(shuffled([...texts, ...note, stamp])))).toEqual([
      ...source,
      ...['Seen', 'by', 'the', 'keeper', 'Not', 'for', 'sale'],
    ])
  })
})

test('vertical writing is read from the right, and one tier after the other', async () => {
  const tier = (text: string, y: number) =>
    Array.from({ length: Math.ceil(text.length / 16) }, (_, line) => ({
      text: text.slice(line * 16, line * 16 + 16),
      x: 500 - line * 20,
      y,
    }))
  const above = '灯台の見張りは毎晩ランプに火を灯し、船を導いた。嵐の夜も休まずに港に着くまで光を送り続けた。'
  const below = '海を見て暮らし、朝になると火を消して眠り、昼には網を直していた。子どもたちは塔に登って遊ぶ。'
  const texts = [...tier(above, 800), ...tier(below, 500)]
  for (const drawn of [texts, texts.toReversed(), shuffled(texts)]) {
    const { text } = await parsePdf(makeVerticalPdf(drawn))
    expect(text.replace(/\s/g, '')).toBe(`${above}${below}`)
  }
})

test('a page whose texts lie on one another is read as it is drawn', async () => {
  const texts = first.map(text => ({ text, x: 50, y: 700 }))
  expect(await wordsOf(makeDrawnPdf(texts))).toEqual(first)
})

test('letters that are drawn twice to be bold are read once', async () => {
  const texts = [0, 0.3].map(shift => ({ text: 'Heading', x: 50 + shift, y: 700, size: 16 }))
  expect(await wordsOf(makeDrawnPdf([...texts, { text: 'text', x: 50, y: 680 }]))).toEqual([
    'Heading',
    'text',
  ])
})

test.each([
  ['behind a number', { text: '10', more: '6', rise: 4, size: 6 }, '10⁶ m'],
  ['that is negative', { text: '10', more: '-3', rise: 4, size: 6 }, '10⁻³ m'],
  ['behind a bracket', { text: '(1+r)', more: '2', rise: 4, size: 7 }, '(1+r)² m'],
  ['behind a word', { text: 'tea', more: '1', rise: 4, size: 6 }, 'tea1 m'],
  ['in the same size', { text: '10', more: '6', rise: 4, size: 10 }, '106 m'],
  ['below the line', { text: '10', more: '6', rise: -3, size: 6 }, '106 m'],
  ['on the line', { text: '10', more: '6', rise: 0, size: 6 }, '106 m'],
  ['that is a letter', { text: '10', more: 'x', rise: 4, size: 6 }, '10x m'],
])('a small number above the line %s', async (_name, { text, more, rise, size }, expected) => {
  const end = 50 + text.length * 10 * characterWidth
  const last = { text: 'm', x: end + more.length * size * characterWidth + 4, y: 700 }
  const drawn = [{ text, x: 50, y: 700 }, { text: more, x: end, y: 700 + rise, size }, last]
  const read = await parsePdf(makeDrawnPdf(drawn.map(part => ({ size: 10, ...part }))))
  expect(read.text.trim()).toBe(expected)
})
