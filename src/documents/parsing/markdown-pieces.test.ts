import { describe, expect, test } from 'vitest'
import { markdownPieces } from './markdown-pieces.ts'

function sections(markdown: string): (string | undefined)[] {
  return markdownPieces(markdown).map(piece => piece.section)
}

describe('markdownPieces', () => {
  test.each<[string, string, (string | undefined)[]]>([
    ['hashes of each level', 'intro\n# One\na\n###### Six\nb', [undefined, 'One', 'Six']],
    ['closing hashes and markup', '## `a.b` *and* [c](http://d.example) ##\n', [undefined, 'a.b and c']],
    ['underlined titles', 'One\n===\na\n\nTwo\n---\nb', [undefined, 'One', 'Two']],
    ['no heading without a space', '#hashtag\n', [undefined]],
    ['no heading in a fence', '# A\n```sh\n# comment\n```\n# B', [undefined, 'A', 'B']],
    ['no fence in code of one line', '# A\n```npm start```\n## B\n```x`\n## C', [undefined, 'A', 'B', 'C']],
    ['no end of a fence by a shorter one', '````\n```\n# no\n````\n# B', [undefined, 'B']],
    ['no heading in front matter', '---\ntitle: x\n# no\n---\n# A', [undefined, 'A']],
    ['no heading in front matter of TOML', '+++\ntitle = "x"\n# no\n+++\n# A', [undefined, 'A']],
    ['no title above a rule, a list item or a table', '- item\n---\n\n---\n| a |\n---\n', [undefined]],
  ])('knows %s', (_name, markdown, expected) => {
    expect(sections(markdown)).toEqual(expected)
  })

  test('gives the text back when joined', () => {
    const markdown = '---\na: b\n---\nText\n\nTitle\n=====\n\n```\n# x\n```\n## Two ##\nend'
    expect(
      markdownPieces(markdown)
        .map(piece => piece.text)
        .join(''),
    ).toBe(markdown)
  })
})
