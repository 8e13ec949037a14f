import { describe, expect, test } from 'vitest'
import { processorTime } from '#test/support/processor-time.ts'
import { bestPassages } from './best-passages.ts'

const passage = (text: string, source = 'a') => ({ source, text })
const sources = (question: string, ...texts: string[]) =>
  bestPassages(
    question,
    texts.map((text, index) => passage(text, String(index))),
  ).map(({ passage: { source } }) => source)

describe('the passages that fit a question', () => {
  test('share words that carry meaning, not those that only ask', () => {
    expect(
      sources('What is the torque of the bolts?', 'What is the meaning of this?', 'Bolts: torque 12 Nm.'),
    ).toEqual(['1'])
    expect(
      sources('Was ist die Garantiezeit?', 'Was ist die Farbe?', 'Die Garantiezeit ist zwei Jahre.'),
    ).toEqual(['1'])
  })

  test('share other forms of a word, and misspelt ones', () => {
    expect(sources('How do I install it?', 'Nothing here.', 'The installation takes an hour.')).toEqual(['1'])
    expect(sources('batery', 'The pump runs.', 'The battery is charged.')).toEqual(['1'])
    expect(sources('install', 'For instance, a stall.')).toEqual([])
  })

  test('are found without regard to case, diacritics and width', () => {
    expect(sources('ÜBERPRUFUNG', 'Die Überprüfung erfolgt jährlich.')).toEqual(['0'])
    expect(sources('ＣＡＬ', 'It shows CAL.')).toEqual(['0'])
  })

  test('are found in scripts without spaces', () => {
    expect(sources('怎么校准探头？', '保修期为两年。', '按住按钮校准探头。')).toEqual(['1'])
    expect(sources('保証期間は何年ですか', '電源を入れます。', '保証期間は二年です。')).toEqual(['1'])
  })

  test('come with the rarest words first', () => {
    const common = 'The pump has a filter. The pump is blue. The pump is heavy.'
    expect(sources('Which pump has an impeller?', common, 'An impeller moves the water.')).toEqual(['1', '0'])
  })

  test('of equal ones the first found comes first, three at most', () => {
    expect(sources('filter', 'One filter.', 'My filter.', 'Our filter.', 'Old filter.')).toEqual([
      '0',
      '1',
      '2',
    ])
  })

  test('of nearly equal ones the first found comes first too', () => {
    expect(sources('filter', 'Wash the filters.', 'Nothing.', 'Nothing.', 'One filter.')).toEqual(['0', '3'])
  })

  test('that overlap are quoted once', () => {
    const start = 'The filter is washed once a week with clear water and dried in the air.'
    const overlapping = [passage(start), passage(`${start} Then it is put back.`), passage(start, 'b')]
    expect(bestPassages('How is the filter washed?', overlapping).map(found => found.passage.source)).toEqual(
      ['a', 'b'],
    )
  })

  test('none for a question of stop words only', () => {
    expect(sources('What is it?', 'What it is.')).toEqual([])
  })
})

describe('the quote', () => {
  const filler = (count: number) =>
    Array.from({ length: count }, (_, n) => `Filler sentence number ${n}.`).join(' ')

  test('is the whole passage where it is short, on one line', () => {
    expect(bestPassages('filter', [passage('Wash the\n  filter.\n\nDry it.')])[0]?.quote).toBe(
      'Wash the filter. Dry it.',
    )
  })

  test('is the part that fits where it is long, marked as a part', () => {
    const text = `${filler(40)} The impeller turns left. ${filler(40)}`
    const [found] = bestPassages('impeller', [passage(text)])
    expect(found?.quote).toMatch(/^…The impeller turns left\. Filler .*…$/)
    expect(found?.quote.length).toBeLessThanOrEqual(702)
  })

  test('is cut between words where a sentence never ends', () => {
    const text = `${'word '.repeat(300)}impeller ${'word '.repeat(300)}`
    const quote = bestPassages('impeller', [passage(text)])[0]?.quote ?? ''
    expect(quote).toMatch(/^…(word )*impeller( word)*…$/)
    expect(quote.length).toBeLessThanOrEqual(702)
  })

  test('is a text of the passage, word for word', () => {
    const text = filler(30)
    const quote = bestPassages('number 17', [passage(text)])[0]?.quote.replaceAll('…', '') ?? ''
    expect(text).toContain(quote)
    expect(quote).toContain('number 17.')
  })

  test('takes its time from no one: ten long passages are compared within a fraction of a second', async () => {
    const words = Array.from({ length: 4000 }, (_, n) => `w${(n * 7919) % 5003}ord${n % 13}`)
    const passages = Array.from({ length: 10 }, (_, n) =>
      passage(words.slice(n * 300, n * 300 + 1000).join(' '), `${n}`),
    )
    const question = words.slice(0, 60).join(' ')
    const spent = await processorTime(() => expect(bestPassages(question, passages)).not.toEqual([]))
    expect(spent).toBeLessThan(1500)
  })
})
