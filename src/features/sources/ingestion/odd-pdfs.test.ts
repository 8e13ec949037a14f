import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SearchResult } from '#features/knowledge/knowledge.schema.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { makeDrawnPdf, makePdf } from '#test/support/documents.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import type { Source } from '../sources.schema.ts'

let app: TestApp

beforeAll(async () => {
  app = await buildApp()
})

afterAll(() => app.close())

const sentences =
  'The keeper of the lighthouse lights the lamp every night and writes down which ships have passed. Nobody else lives on the rock, but the postman comes with letters and bread when the weather allows it.'

/** A font whose codes stand for the given characters, or for nothing that it tells. */
function fontOf(
  characters: Iterable<readonly [code: number, character: number]> | undefined,
  name = 'Own',
): string {
  const differences = Array.from(characters ?? [], ([code, character]) => {
    return `${code} /uni${character.toString(16).padStart(4, '0').toUpperCase()}`
  })
  return `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /FirstChar 0 /LastChar 255 /Widths [${Array(256).fill(500).join(' ')}] /Encoding << /Type /Encoding /Differences [${differences.join(' ')}] >> >>`
}

/** Numbers of glyphs, which are codes, too, where a font does not say what they are. */
const numbered =
  '<< /Type /Font /Subtype /Type0 /BaseFont /Own /Encoding /Identity-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Own /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >>'

/** Lines of parts with a space between them that is left blank. */
function drawn(lines: Uint8Array[][], font: string): Uint8Array {
  const texts = lines.map(parts => {
    const strings = parts.map(part => `<${Buffer.from(part).toString('hex')}>`)
    return `[${strings.join(' -400 ')}] TJ 0 -14 Td`
  })
  const bytes = Buffer.from(`BT /F1 12 Tf 50 800 Td ${texts.join(' ')} ET`)
  return makePdf([''], { font, content: { dictionary: '', bytes } })
}

const lines = sentences.match(/.{1,60}(?: |$)/g) ?? []
const long = [1, 2, 3].flatMap(() => lines)
const asGlyphs = (text: string) =>
  Uint8Array.from([...text].flatMap(letter => [0, letter.charCodeAt(0) - 29]))
const lettersOf = (offset: number) =>
  Array.from({ length: 95 }, (_, index) => [32 + index, offset + index] as const)

async function uploaded(content: Uint8Array): Promise<Source> {
  const id = await uploadAndProcess(app, { name: 'keeper.pdf', content })
  return (await app.call<Source>('GET', `/api/agents/default/sources/${id}`)).body
}

describe('a PDF whose fonts do not tell which letters they draw ends in error', () => {
  test.each([
    [
      'numbers of glyphs, with spaces',
      drawn(
        lines.map(line => [asGlyphs(line)]),
        numbered,
      ),
    ],
    [
      'numbers of glyphs, with spaces that are left blank',
      drawn(
        long.map(line => line.trim().split(' ').map(asGlyphs)),
        numbered,
      ),
    ],
    [
      'private use',
      drawn(
        lines.map(line => [Buffer.from(line)]),
        fontOf(lettersOf(0xe000)),
      ),
    ],
    ['a few letters in private use', drawn([[Buffer.from('lamps')]], fontOf(lettersOf(0xe000)))],
    [
      'controls',
      drawn(
        lines.map(line => [Buffer.from(line)]),
        fontOf(lettersOf(0x80)),
      ),
    ],
    [
      'replacements',
      drawn(
        lines.map(line => [Buffer.from(line)]),
        fontOf(Array.from({ length: 95 }, (_, index) => [32 + index, 0xfffd] as const)),
      ),
    ],
  ])('%s', async (_name, content) => {
    const { status, error } = await uploaded(content)
    expect([status, error]).toEqual(['error', expect.stringMatching(/do not tell which letters they draw/)])
  })
})

/** Shift JIS of Japanese, as a reader takes it who knows of no encoding but that of Windows. */
const misread = Buffer.from(
  '938c8b9e82cc937382cd91e582ab82a2814293fa967b8cea82cc95b68e9a82cd93c782df82c882a281428eb08e9a',
  'hex',
)
const signs = '™—›‹•…†‡ﬁﬂ√∫≈∆«»‰Œœ'
const asSigns = Array.from(
  { length: 95 },
  (_, index) => [32 + index, signs.codePointAt(index % signs.length) ?? 0] as const,
)

function composite(name: string, encoding: string): string {
  return `<< /Type /Font /Subtype /Type0 /BaseFont /ABCDEF+${name} /Encoding /${encoding} /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /ABCDEF+${name} /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >>`
}

const inTwoBytes = (text: string) =>
  Uint8Array.from([...text].flatMap(sign => [sign.charCodeAt(0) >> 8, sign.charCodeAt(0) & 255]))

describe('a PDF that draws Japanese, but names signs in its place, ends in error with its fonts', () => {
  const simple = (name: string) =>
    drawn(
      lines.map(line => [Buffer.from(line)]),
      fontOf(asSigns, name),
    )
  const twoBytes = (name: string, encoding: string) =>
    drawn(
      Array.from({ length: 9 }, () => [inTwoBytes(signs)]),
      composite(name, encoding),
    )
  const windows =
    '<< /Type /Font /Subtype /TrueType /BaseFont /ABCDEF+MS-Mincho /Encoding /WinAnsiEncoding /FirstChar 0 /LastChar 255 >>'
  test.each([
    ['Ryumin-Light', simple('ABCDEF+Ryumin-Light')],
    ['GothicBBB-Medium', simple('GothicBBB-Medium')],
    ['HeiseiMin-W3', twoBytes('HeiseiMin-W3', 'Identity-H')],
    ['KozMinPr6N-Regular', twoBytes('KozMinPr6N-Regular', 'Identity-V')],
    [
      'MS-Mincho',
      drawn(
        Array.from({ length: 4 }, () => [misread]),
        windows,
      ),
    ],
    ['SimSun', simple('SimSun')],
    ['Batang', twoBytes('Batang', 'Identity-H')],
  ])('%s', async (name, content) => {
    const { status, error } = await uploaded(content)
    expect([status, error]).toEqual([
      'error',
      expect.stringMatching(`do not tell which letters they draw.*: ${name}`),
    ])
  })

  test('but not formulas and quotes of other fonts', async () => {
    expect(
      (
        await uploaded(
          drawn(
            lines.map(line => [Buffer.from(line)]),
            fontOf(asSigns, 'CenturyGothic'),
          ),
        )
      ).status,
    ).toBe('ready')
  })
})

describe('a PDF with a few odd signs is ready', () => {
  test('among its letters', async () => {
    const font = fontOf([[0x7e, 0xf0b7]])
    const { id, status } = await uploaded(
      drawn(
        lines.map(line => [Buffer.from(`~ ${line}`)]),
        font,
      ),
    )
    expect(status).toBe('ready')
    const path = `/api/agents/default/sources/search?source_id=${id}&query=postman`
    const { results } = (await app.call<{ results: SearchResult[] }>('GET', path)).body
    expect(results.map(({ content }) => content)).toEqual([expect.stringContaining('postman comes')])
  })

  test.each([
    ['abbreviations', 'BGB HGB StGB XML HTML MP3 DVD '.repeat(20)],
    ['Czech', 'Strč prst skrz krk. Čtvrtletní zpráva ministerstva vnitra, vzdělávání a průmyslu. '.repeat(4)],
  ])('of %s', async (_name, text) => {
    const plain = text.normalize('NFD').replace(/\p{M}/gu, '')
    expect((await uploaded(makePdf([plain.match(/.{1,60}(?: |$)/g)?.join('\n') ?? '']))).status).toBe('ready')
  })
})

test('a PDF whose columns would become more with each row does not take all of its time', async () => {
  const texts = Array.from({ length: 6_000 }, (_, row) =>
    [-1, 1].map(side => ({
      text: 'a',
      x: 297 + side * (6_000 - row) * 0.048,
      y: 780 - row * 0.04,
      size: 0.033,
    })),
  ).flat()
  expect((await uploaded(makeDrawnPdf(texts))).status).toBe('ready')
})
