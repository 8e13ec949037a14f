import { describe, expect, test } from 'vitest'
import {
  blocksOf,
  type ComparedPage,
  changesByComparison,
  createRepeats,
  eachMark,
  marksOf,
  withoutLeftOut,
} from './page-blocks.ts'

describe('blocks of a text', () => {
  test.each([
    ['a\n\nb\n\n\nc', ['a\n\n', 'b\n\n\n', 'c']],
    ['\n\na', ['\n\n', 'a']],
    ['# A\na\nb', ['# A\na\nb']],
    ['-   a\n-   b\n\nc', ['-   a\n-   b\n\n', 'c']],
    ['-   a\n\n    more of a\n\nb', ['-   a\n\n    more of a\n\n', 'b']],
    ['-   [a](http://x)\n-   [b](http://x/b)\n\nc', ['-   [a](http://x)\n', '-   [b](http://x/b)\n\n', 'c']],
    ['-   [a](http://x)\n-   b', ['-   [a](http://x)\n', '-   b']],
    ['-   a\n    -   [b](http://x)\n-   c', ['-   a\n', '    -   [b](http://x)\n', '-   c']],
    ['-   [a](http://x) costs 2 EUR\n-   b', ['-   [a](http://x) costs 2 EUR\n-   b']],
    ['```\na\n\n-   [b](http://x)\n```\n\nc', ['```\na\n\n-   [b](http://x)\n```\n\n', 'c']],
    ['| a |\n| --- |\n| b |\n\nc', ['| a |\n| --- |\n| b |\n\n', 'c']],
    ['', []],
  ])('%j', (text, blocks) => {
    expect(blocksOf(text)).toEqual(blocks)
  })

  test('are bounded in number, without losing text', () => {
    const text = 'a\n\n'.repeat(5_000)
    expect(blocksOf(text)).toHaveLength(2_000)
    expect(blocksOf(text).join('')).toBe(text)
  })
})

/** The text that each page keeps, after all were compared. */
function kept(texts: readonly string[]): string[] {
  const pages = texts.map((text, at) => ({ document: `${at}`, marks: marksOf(blocksOf(text)), leftOut: '' }))
  const changes = new Map(changesByComparison(pages).map(({ document, leftOut }) => [document, leftOut]))
  return texts.map((text, at) => withoutLeftOut(text, changes.get(`${at}`) ?? ''))
}

describe('of several pages', () => {
  test.each<[string, string[], string[]]>([
    ['a footer stays on the first', ['a\n\nFoot', 'b\n\nFoot', 'c\n\nFoot'], ['a\n\nFoot', 'b', 'c']],
    [
      'the first that has it keeps it',
      ['a', 'b\n\nFoot', 'c\n\nFoot', 'd\n\nFoot'],
      ['a', 'b\n\nFoot', 'c', 'd'],
    ],
    [
      'half of them is not most',
      ['a\n\nx', 'b\n\nx', 'c\n\nx', 'd', 'e', 'f'],
      ['a\n\nx', 'b\n\nx', 'c\n\nx', 'd', 'e', 'f'],
    ],
    ['two are not many', ['a\n\nx', 'b\n\nx'], ['a\n\nx', 'b\n\nx']],
    [
      'a heading stays with what it is about',
      ['## P\n\n1', '## P\n\n2', '## P\n\n3'],
      ['## P\n\n1', '## P\n\n2', '## P\n\n3'],
    ],
    [
      'and goes without it',
      ['## P\n\n1\n\na', '## P\n\n1\n\n# b', '## P\n\n1\n\n# c'],
      ['## P\n\n1\n\na', '# b', '# c'],
    ],
    [
      'a title of the site goes',
      ['# S\n\n## a', '# S\n\n## b', '# S\n\n## c'],
      ['# S\n\n## a', '## b', '## c'],
    ],
    [
      'lines that announce stay',
      ['Price:\n\n1', 'Price:\n\n2', 'Price:\n\n3'],
      ['Price:\n\n1', 'Price:\n\n2', 'Price:\n\n3'],
    ],
    [
      'so do bold ones',
      ['**P**\n\n1', '**P**\n\n2', '**P**\n\n3'],
      ['**P**\n\n1', '**P**\n\n2', '**P**\n\n3'],
    ],
    [
      'entries of a menu go one by one',
      [
        '-   [a](http://x/a)\n\n1',
        '-   [a](http://x/a)\n-   b\n\n2',
        '-   [a](http://x/a)\n-   [c](http://x/c)\n\n3',
      ],
      ['-   [a](http://x/a)\n\n1', '-   b\n\n2', '-   [c](http://x/c)\n\n3'],
    ],
    ['pages of the same text are one', ['x', 'x', 'x'], ['x', '', '']],
    ['a block counts once for each page', ['x\n\nx\n\nx', 'b'], ['x\n\nx\n\nx', 'b']],
  ])('%s', (_what, texts, expected) => {
    expect(kept(texts)).toEqual(expected)
  })

  test('a block of most is found also where they are many', () => {
    const pages = Array.from({ length: 601 }, (_, at): ComparedPage => {
      const text = at < 301 ? `${at}\n\nFoot` : `${at}`
      return {
        document: `${at}`,
        marks: marksOf(blocksOf(text)),
        leftOut: at === 7 ? '01' : '00'.slice(at < 301 ? 0 : 1),
      }
    })
    expect(changesByComparison(pages)).toHaveLength(299)
  })

  test('those read so far are remembered within bounds', () => {
    const repeats = createRepeats()
    for (let page = 0; page < 20; page += 1)
      repeats.note(marksOf(['Foot', ...Array.from({ length: 1_000 }, (_, at) => `${page} ${at}`)]))
    expect(eachMark(repeats.soFar())).toEqual(eachMark(marksOf(['Foot'])))
  })
})
