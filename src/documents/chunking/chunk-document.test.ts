import { describe, expect, test } from 'vitest'
import { processorTime } from '#test/support/processor-time.ts'
import { documentOf, type ParsedDocument, type Piece } from '../parsing/parsed-document.ts'
import { type Chunk, chunkDocument } from './chunk-document.ts'
import { type ChunkingOptions, chunkingMethods, defaultChunking } from './chunking-options.ts'

const small: ChunkingOptions = { chunk_size: 100, overlap: 0, method: 'semantic' }

function contents(pieces: (string | Piece)[], options: Partial<ChunkingOptions> = {}): string[] {
  return chunks(pieces, options).map(chunk => chunk.content)
}

function chunks(pieces: (string | Piece)[], options: Partial<ChunkingOptions> = {}): Chunk[] {
  const document = documentOf(pieces.map(piece => (typeof piece === 'string' ? { text: piece } : piece)))
  return chunkDocument(document, { ...small, ...options })
}

/** A sentence of that many characters, its full stop included. */
function sentence(length: number, letter = 'a'): string {
  return `${letter.toUpperCase()}${letter.repeat(length - 2)}.`
}

/** Pseudo-random numbers from 0 up to 1, the same in each run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

describe('semantic', () => {
  test('paragraphs are packed up to the size, and none is torn that fits', () => {
    const [a, b, c] = [sentence(40), sentence(40, 'b'), sentence(40, 'c')]
    expect(contents([`${a}\n\n${b}\n\n${c}`])).toEqual([`${a}\n\n${b}`, c])
  })

  test('a paragraph that is too long falls into sentences, also over its line breaks', () => {
    const text =
      'The first sentence goes on\nover a line break and ends here. The second one is about\nas long as the first.'
    expect(contents([text])).toEqual([
      'The first sentence goes on\nover a line break and ends here.',
      'The second one is about\nas long as the first.',
    ])
  })

  test('list items, table rows and code lines end where their lines do', () => {
    const items = Array.from({ length: 6 }, (_, index) => `- item ${index} that says no more`).join('\n')
    const cut = contents([items])
    expect(cut.length).toBeGreaterThan(1)
    for (const chunk of cut) expect(chunk).toMatch(/^- item .* more$/s)
  })

  test('a sentence that is too long falls between words', () => {
    const cut = contents(['wording '.repeat(40)])
    expect(cut.length).toBeGreaterThan(3)
    for (const chunk of cut) expect(chunk).toMatch(/^wording( wording)*$/)
  })

  test('lines of verse without a stop end where they do', () => {
    const cut = contents(['and so the line goes on\n'.repeat(10)])
    expect(cut.length).toBeGreaterThan(1)
    for (const chunk of cut) expect(chunk).toMatch(/^(?:and so the line goes on\n?)+$/)
  })

  test.each([
    ['letters', 'x'.repeat(250), 'x'],
    ['surrogate pairs', '😉'.repeat(130), '😉'],
    ['families of emoji', '👩‍👩‍👧‍👦'.repeat(30), '👩‍👩‍👧‍👦'],
    ['letters with marks', 'e\u0301'.repeat(130), 'e\u0301'],
    ['Chinese without a stop', '语'.repeat(250), '语'],
  ])('a word without end is cut between %s', (_name, text, grapheme) => {
    const cut = contents([text])
    expect(cut.join('')).toBe(text)
    for (const chunk of cut) expect(chunk.replaceAll(grapheme, '')).toBe('')
  })

  test('a chunk begins with the last whole sentences of the one before', () => {
    const sentences = ['a', 'b', 'c', 'd', 'e'].map(letter => sentence(30, letter))
    const [a, b, c, d, e] = sentences
    expect(contents([sentences.join(' ')], { overlap: 49 })).toEqual([`${a} ${b} ${c}`, `${c} ${d} ${e}`])
    const short = ['f', 'g', 'h', 'i', 'j'].map(letter => sentence(23, letter))
    const [f, g, h, i, j] = short
    expect(contents([short.join(' ')], { overlap: 49 })).toEqual([`${f} ${g} ${h} ${i}`, `${h} ${i} ${j}`])
  })

  test('the overlap of a paragraph begins within it', () => {
    const text = `${sentence(60)} ${sentence(30, 'b')}\n\n${sentence(50, 'c')}`
    expect(contents([text], { overlap: 40 })).toEqual([
      `${sentence(60)} ${sentence(30, 'b')}`,
      `${sentence(30, 'b')}\n\n${sentence(50, 'c')}`,
    ])
  })

  test('no overlap tears a sentence or makes a chunk too long', () => {
    expect(contents([`${sentence(90)} ${sentence(90, 'b')}`], { overlap: 49 })).toEqual([
      sentence(90),
      sentence(90, 'b'),
    ])
    expect(contents([`${sentence(50)} ${sentence(40, 'b')} ${sentence(80, 'c')}`], { overlap: 49 })).toEqual([
      `${sentence(50)} ${sentence(40, 'b')}`,
      sentence(80, 'c'),
    ])
  })

  test('a chunk never crosses a page, and repeats nothing of the last one', () => {
    const pages = [
      { text: 'End of one.\n\n', page: 1 },
      { text: 'Start of two.', page: 2 },
    ]
    expect(chunks(pages, { overlap: 49 })).toEqual([
      { content: 'End of one.', start: 0, end: 11, page: 1, section: null },
      { content: 'Start of two.', start: 13, end: 26, page: 2, section: null },
    ])
  })

  test('a chunk ends with its section', () => {
    const sections = [
      { text: `# A\n\n${sentence(30)}\n\n`, section: 'A' },
      { text: `# B\n\n${sentence(30, 'b')}`, section: 'B' },
    ]
    expect(chunks(sections, { overlap: 49 }).map(({ content, section }) => [section, content])).toEqual([
      ['A', `# A\n\n${sentence(30)}`],
      ['B', `# B\n\n${sentence(30, 'b')}`],
    ])
  })

  test('a tiny section joins the next one, and the chunk is named after the longer', () => {
    const sections = [
      { text: '# Guide\n\n', section: 'Guide' },
      { text: `## Start\n\n${sentence(50)}`, section: 'Start' },
    ]
    expect(chunks(sections)).toMatchObject([
      { content: `# Guide\n\n## Start\n\n${sentence(50)}`, section: 'Start' },
    ])
  })

  test.each([
    [
      'a paragraph of sentences',
      `${sentence(50)} ${sentence(45, 'b')}`,
      [`# A\n\n${sentence(50)}`, sentence(45, 'b')],
    ],
    ['a sentence', `${'wording '.repeat(12)}more`, [`# A\n\n${'wording '.repeat(12).trim()}`, 'more']],
    ['a word without end', 'x'.repeat(150), [`# A\n\n${'x'.repeat(95)}`, 'x'.repeat(55)]],
    [
      'what another one stands above',
      `## B\n\n${'x'.repeat(150)}`,
      [`# A\n\n## B\n\n${'x'.repeat(89)}`, 'x'.repeat(61)],
    ],
  ])('a heading takes in the beginning of %s that fits without it alone', (_name, text, expected) => {
    expect(contents([{ text: `# A\n\n${text}`, section: 'A' }])).toEqual(expected)
  })

  test('comments, which begin like headings, are cut between their lines', () => {
    const comment = '# lower-case words of a comment'
    const together = (lines: number) => Array<string>(lines).fill(comment).join('\n')
    expect(contents([`${comment}\n`.repeat(8)])).toEqual([together(3), together(3), together(2)])
  })

  test('records, each a span of its own, stay whole', () => {
    const records = Array.from({ length: 10 }, (_, index) => ({
      text: `${index},"One. Two.",three\n`,
      section: 'a, b, c',
    }))
    for (const chunk of contents(records, { overlap: 30 }))
      expect(chunk).toMatch(/^(?:\d,"One. Two.",three\n?)+$/)
  })
})

describe('fixed', () => {
  test('windows have the size and repeat the overlap', () => {
    const text = Array.from({ length: 50 }, (_, index) => String(index).padStart(5, '-')).join('')
    const cut = chunks([text], { method: 'fixed', overlap: 20 })
    expect(cut.map(({ start, end }) => [start, end])).toEqual([
      [0, 100],
      [80, 180],
      [160, 250],
    ])
  })

  test('windows begin anew on each page, and blank ones are left out', () => {
    const pages = [
      { text: 'a'.repeat(120), page: 1 },
      { text: ' '.repeat(40), page: 2 },
      { text: 'c', page: 3 },
    ]
    expect(chunks(pages, { method: 'fixed' }).map(({ page, start, end }) => [page, start, end])).toEqual([
      [1, 0, 100],
      [1, 100, 120],
      [3, 160, 161],
    ])
  })

  test('no grapheme is torn', () => {
    const family = '👩‍👩‍👧‍👦'
    for (const chunk of contents([family.repeat(40)], { method: 'fixed', overlap: 30 })) {
      expect(chunk.replaceAll(family, '')).toBe('')
    }
  })
})

describe.each(chunkingMethods)('%s, whatever the document', method => {
  const alphabet = [
    'a',
    'Bc ',
    '. ',
    '\n',
    '\n\n',
    '语。',
    '😉',
    'e\u0301',
    '- x\n',
    '  ',
    'word ',
    '1) ',
    '|',
    '👩‍👧',
    'y'.repeat(90),
  ]

  function randomDocument(random: () => number): ParsedDocument {
    const pieces = Array.from({ length: Math.floor(random() * 8) }, (_, index) => ({
      text: Array.from(
        { length: Math.floor(random() * 200) },
        () => alphabet[Math.floor(random() * alphabet.length)],
      ).join(''),
      ...(random() < 0.5 ? { page: index + 1 } : {}),
      ...(random() < 0.5 ? { section: `S${Math.floor(random() * 3)}` } : {}),
    }))
    return documentOf(pieces)
  }

  test('chunks are slices within the size, in order, that tear no pair and leave out only white space', () => {
    const random = randomFrom(7)
    for (let round = 0; round < 300; round++) {
      const document = randomDocument(random)
      const chunk_size = 100 + Math.floor(random() * 300)
      const overlap = Math.floor((random() * (chunk_size - 1)) / 2)
      const found = chunkDocument(document, { chunk_size, overlap, method })
      let covered = 0
      for (const { content, start, end } of found) {
        expect(content).toBe(document.text.slice(start, end))
        expect(content.length).toBeLessThanOrEqual(chunk_size)
        expect(content.isWellFormed()).toBe(true)
        expect(content).toMatch(/\S/)
        expect(end).toBeGreaterThan(covered)
        expect(document.text.slice(covered, start).trim()).toBe('')
        expect(covered - start).toBeLessThanOrEqual(overlap + (method === 'fixed' ? 64 : 0))
        covered = end
      }
      expect(document.text.slice(covered).trim()).toBe('')
    }
  })

  test('a document of white space has no chunks', () => {
    expect(contents([' \n\n \t'], { method })).toEqual([])
    expect(contents([], { method })).toEqual([])
  })
})

test.each<[string, string]>([
  ['paragraphs', `${'A sentence about one thing or another, of common length. '.repeat(8)}\n\n`],
  ['one endless paragraph', 'A sentence about one thing or another, of common length. '],
  ['one endless word', 'x'],
  ['wrapped lines', 'a line of text that was broken by hand before\n'],
  ['headings alone', '# a\n\n'],
  ['comments', '# a comment, which begins like a heading\n'],
])('1 MB of %s is cut in less than 300 ms', async (_name, unit) => {
  const document = documentOf([{ text: unit.repeat(1_000_000 / unit.length) }])
  chunkDocument(document, defaultChunking)
  const spent = await processorTime(() =>
    expect(chunkDocument(document, defaultChunking).length).toBeGreaterThan(900),
  )
  expect(spent).toBeLessThan(300)
})
