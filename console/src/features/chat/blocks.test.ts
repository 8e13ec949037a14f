import type { Token } from 'marked'
import { describe, expect, it } from 'vitest'
import { type Blocks, growBlocks, noBlocks, parseBlocks } from './blocks.ts'

const sample = [
  '# Firing\n\nThe *kiln* has **two** doors.\nIt is `hot`.\n\n',
  '- one\n- two\n  - nested\n\n- three after a gap\n- four\n- five\n- six\n\n',
  '1. first\n2. second\n\n   with a paragraph\n3. third\n4. fourth\n5. fifth\n\n',
  '```js\nconst fired = true\n\nif (fired) open()\n```\n\n',
  '| a | b |\n|---|:-:|\n| 1 | `2` |\n| 3 | 4 |\n\n',
  '> quoted\n> over lines\n\nA title\n=======\n\n    indented\n\n    code\n\n',
  '<div>\n<script>alert(1)</script>\n</div>\n\n<!-- a comment\n\nover lines -->\n\nText with <b>markup</b>.\n\n---\n\n',
  'A last paragraph with https://example.com and a line\nbreak.',
].join('')

/** Pieces of many lengths, the same each time. */
function pieces(text: string, seed: number): string[] {
  const found: string[] = []
  let [at, state] = [0, seed]
  while (at < text.length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    const length = 1 + (state % (seed % 2 === 0 ? 7 : 60))
    found.push(text.slice(at, at + length))
    at += length
  }
  return found
}

function grow(parts: readonly string[], see: (blocks: Blocks) => void = () => {}): Blocks {
  let [blocks, text] = [noBlocks, '']
  for (const part of parts) {
    text += part
    blocks = growBlocks(blocks, text)
    see(blocks)
  }
  return blocks
}

const all = ({ settled, open }: Blocks): Token[] => [...settled, ...open]
const words = (tokens: readonly Token[]): string[] =>
  tokens.flatMap(token => {
    if (token.type === 'list') return words((token as { items: Token[] }).items)
    if ('tokens' in token && token.tokens) return words(token.tokens)
    return token.type === 'space' ? [] : [`${token.type}: ${'text' in token ? token.text : token.raw}`]
  })

describe('a text that grows', () => {
  it.each(Array.from({ length: 24 }, (_, seed) => seed + 1))(
    'has the blocks of the whole text, in pieces of kind %i',
    seed => {
      const blocks = grow(pieces(sample, seed))
      expect(
        all(blocks)
          .map(({ raw }) => raw)
          .join(''),
      ).toBe(sample)
      expect(words(all(blocks))).toEqual(words(parseBlocks(sample)))
    },
  )

  it('keeps settled blocks as they were', () => {
    let before: readonly Token[] = []
    grow(pieces(sample, 3), ({ settled }) => {
      for (const [at, token] of before.entries()) expect(settled[at]).toBe(token)
      before = settled
    })
    expect(before.length).toBeGreaterThan(10)
  })

  it.each([
    ['paragraphs', 'Words of a paragraph, which is quite short.\n\n'],
    ['a list', '- an item with **bold** words\n'],
    ['numbers', '1. an item with `code` in it\n'],
    ['code in fences', '```js\nconst fired = true\n```\n\n'],
  ])('of %s is parsed from its end alone', (_, unit) => {
    let open = 0
    grow(
      Array.from({ length: 300 }, () => unit),
      blocks => {
        open = Math.max(open, blocks.text.length - blocks.settledLength)
      },
    )
    expect(open).toBeLessThan(unit.length * 6)
  })

  it('that is replaced by another begins again', () => {
    const blocks = growBlocks(grow([sample]), 'Another text.')
    expect(words(all(blocks))).toEqual(['text: Another text.'])
    expect(growBlocks(blocks, 'Another text.')).toBe(blocks)
  })

  it('with line ends of Windows has the same blocks', () => {
    const parts = pieces(sample.replaceAll('\n', '\r\n'), 4)
    expect(words(all(grow(parts)))).toEqual(words(parseBlocks(sample)))
  })
})

it.each([
  ['emphasis', '_a'.repeat(50_000)],
  ['stars', '**a *b '.repeat(10_000)],
  ['addresses', `${'a.'.repeat(50_000)}@`],
  ['brackets', '[a]('.repeat(20_000)],
  ['quotes', '>'.repeat(50_000)],
  ['quoted lists', '> - '.repeat(20_000)],
  ['lists', Array.from({ length: 400 }, (_, at) => `${' '.repeat(at * 2)}- a`).join('\n')],
  ['spaces', `${' \t'.repeat(40_000)}a`],
  ['tags', '<a '.repeat(30_000)],
  ['a very long text', 'word '.repeat(100_000)],
])('text made to keep the parser busy is shown as it is written: %s', (_, text) => {
  const begun = process.threadCpuUsage()
  const blocks = parseBlocks(text)
  const { user, system } = process.threadCpuUsage(begun)
  expect((user + system) / 1000).toBeLessThan(1000)
  expect(blocks.map(({ raw }) => raw).join('')).toBe(text)
})
