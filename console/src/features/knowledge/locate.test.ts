import { describe, expect, it } from 'vitest'
import { locate, type Mark } from './locate.ts'

const textOf = (items: readonly string[], marks: readonly Mark[]) =>
  marks.map(({ item, start, end }) => items[item]?.slice(start, end))

/** What is marked of a passage, with all of the page's text around it. */
function marked(items: readonly string[], text: string, passage = text) {
  const start = text.indexOf(passage)
  return textOf(items, locate(items, text, { start, end: start + passage.length }).marks)
}

const kiln = 'The kiln is fired at 1280 degrees for nine hours.'
const glaze = 'Glaze is made of ash, feldspar and a little clay.'

describe('a passage is marked where it stands', () => {
  it.each<[string, string[], string, string, string[]]>([
    ['whole', [kiln, glaze], `${kiln}\n${glaze}`, glaze, [glaze.slice(0, -1)]],
    ['part of an item', [`${kiln} ${glaze}`], `${kiln} ${glaze}`, kiln, [kiln.slice(0, -1)]],
    [
      'over items',
      ['The kiln is fired at', ' ', '1280 degrees.'],
      'The kiln is fired at 1280 degrees.',
      'The kiln is fired at 1280 degrees.',
      ['The kiln is fired at', '1280 degrees'],
    ],
    [
      'hyphenated on the page',
      ['The kiln is fi-', 'red at 1280 degrees.'],
      'The kiln is fired at 1280 degrees.',
      'fired at 1280',
      ['fi', 'red at 1280'],
    ],
    [
      'with ligatures, accents and other widths',
      ['The ﬁre of the ＫＩＬＮ is naïve.'],
      'The fire of the kiln is naive.',
      'fire of the kiln',
      ['ﬁre of the ＫＩＬＮ'],
    ],
    ['in another order', [glaze, kiln], `${kiln}\n${glaze}`, kiln, [kiln.slice(0, -1)]],
    [
      'as cells that are drawn by columns',
      ['Cone number', 'Colour of glaze', 'Cone nine', 'Celadon green', 'Temperature', 'Twelve eighty'],
      'Cone number\tCone nine\tTemperature\nColour of glaze\tCeladon green\tTwelve eighty',
      'Colour of glaze\tCeladon green\tTwelve eighty',
      ['Colour of glaze', 'Celadon green', 'Twelve eighty'],
    ],
    ['on a page of a few letters', ['Kiln 9'], 'Kiln 9', 'Kiln 9', ['Kiln 9']],
    [
      'in Japanese',
      ['窯は千二百八十度で', '九時間焼かれます。釉薬は灰と長石です。'],
      '窯は千二百八十度で九時間焼かれます。釉薬は灰と長石です。',
      '釉薬は灰と長石です。',
      ['釉薬は灰と長石です'],
    ],
    ['in letters of two units', ['𝐓𝐡𝐞 𝐤𝐢𝐥𝐧 𝐢𝐬 𝐟𝐢𝐫𝐞𝐝 𝐚𝐭 𝐧𝐢𝐧𝐞'], 'The kiln is fired at nine', 'kiln', ['𝐤𝐢𝐥𝐧']],
  ])('%s', (_, items, text, passage, expected) => {
    expect(marked(items, text, passage)).toEqual(expected)
  })

  it('the one of several equal places that is meant', () => {
    const items = [kiln, glaze, kiln, 'Then it cools.', kiln]
    const text = items.join('\n')
    for (const at of [0, 2, 4]) {
      const start = items.slice(0, at).join('\n').length + (at === 0 ? 0 : 1)
      const { marks } = locate(items, text, { start, end: start + kiln.length })
      expect(marks.map(({ item }) => item)).toEqual([at])
    }
  })
})

describe('nothing is marked', () => {
  it.each<[string, string[], string]>([
    ['if it stands on another page', [glaze], kiln],
    ['if too little of it is there', [kiln], `${kiln} ${glaze} ${glaze.toUpperCase()} And a lot more of it.`],
    ['if it could stand in two places', [kiln, glaze, kiln], kiln],
    ['if words alone are the same', [...kiln.split(' ').toReversed()], kiln],
    ['on an empty page', [], kiln],
    ['of a passage without letters', [kiln, '…'], '…'],
  ])('%s', (_, items, passage) => {
    expect(locate(items, passage, { start: 0, end: passage.length }).marks).toEqual([])
  })
})

it('a page of repetitions takes no time', () => {
  const items = Array.from({ length: 4000 }, (_, at) => `0 0 0 0 ${at % 7}`)
  const begun = process.threadCpuUsage()
  locate(items, items.join(' '), { start: 0, end: 500 })
  const { user, system } = process.threadCpuUsage(begun)
  expect((user + system) / 1000).toBeLessThan(1000)
})
