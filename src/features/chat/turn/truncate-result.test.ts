import { describe, expect, it } from 'vitest'
import { cutMiddle, previewCharacters, previewOf, textOf, truncateResult } from './truncate-result.ts'

const emoji = '😀'

describe('truncating a result', () => {
  it.each<[what: string, result: unknown]>([
    ['a text', 'short'],
    ['an object', { rows: [1, 'two', null, { three: true }] }],
    ['a list', [1, 2, 3]],
    ['null', null],
    ['a number', 17],
  ])('leaves %s that is small enough as it is', (_what, result) => {
    expect(truncateResult(result, 100)).toEqual(result)
  })

  it('leaves a result of exactly the limit whole', () => {
    expect(truncateResult('x'.repeat(100), 100)).toBe('x'.repeat(100))
    expect(truncateResult('x'.repeat(101), 100)).not.toBe('x'.repeat(101))
  })

  it('turns a larger one into text, and keeps its beginning and its end', () => {
    const rows = Array.from({ length: 1000 }, (_, number) => ({ number }))
    const cut = truncateResult({ rows, last: 'the end' }, 1000)
    expect(cut).toEqual(expect.stringMatching(/^\{"rows":\[\{"number":0\}.*the end"\}$/s))
    expect(String(cut).length).toBeLessThanOrEqual(1000)
  })

  it('says how much it left out', () => {
    const cut = cutMiddle(`${'a'.repeat(600)}${'b'.repeat(600)}`, 200)
    const [, head = '', leftOut, tail = ''] =
      /^(a+)\n\[… (\d+) characters left out …\]\n(b+)$/.exec(cut) ?? []
    expect(Number(leftOut)).toBe(1200 - head.length - tail.length)
    expect(cut.length).toBeGreaterThan(190)
  })

  it('turns one that is nested too deeply into its text', () => {
    expect(truncateResult(nested(200), 64_000)).toEqual(nested(200))
    expect(truncateResult(nested(201), 64_000)).toBe(JSON.stringify(nested(201)))
    expect(truncateResult('['.repeat(300), 64_000)).toBe('['.repeat(300))
  })

  it('names an embedded file instead of quoting it, wherever it stands', () => {
    const screenshot = `data:image/png;base64,${'A'.repeat(5000)}`
    const note = `[image/png of ${screenshot.length} characters left out]`
    expect(truncateResult(screenshot, 64_000)).toBe(note)
    expect(truncateResult({ pages: [{ title: 'Home', screenshot }] }, 64_000)).toEqual({
      pages: [{ title: 'Home', screenshot: note }],
    })
    expect(truncateResult(`data:,${'x'.repeat(3000)}`, 64_000)).toBe('[file of 3006 characters left out]')
  })

  it('keeps a small embedded file, and a text that merely begins like one', () => {
    const icon = `data:image/gif;base64,${'A'.repeat(100)}`
    const table = `data: ${'1 2 3 '.repeat(1000)}`
    expect(truncateResult({ icon, table }, 64_000)).toEqual({ icon, table })
  })

  it.each([
    ['deeply nested', () => nested(100_000)],
    ['of ten million characters', () => 'x'.repeat(10_000_000)],
  ])('does not hang on a result that is %s', (_what, make) => {
    const cut = () => truncateResult(make(), 1000)
    // What cannot be written as JSON at all may throw, which the turn turns into a failed call.
    expect(attempt(cut)).toSatisfy(
      (value: unknown) => value instanceof RangeError || textOf(value).length <= 1000,
    )
  })
})

describe('cutting', () => {
  it.each([0, 1, 5, 30, 40, 41, 42, 43, 44, 45, 100, 101, 102, 103, 999, 1999])(
    'to %i characters never exceeds them and never splits a surrogate pair',
    characters => {
      for (const text of [emoji.repeat(1000), `a${emoji.repeat(1000)}`, `${emoji.repeat(1000)}b`]) {
        const cut = cutMiddle(text, characters)
        expect(cut.length).toBeLessThanOrEqual(characters)
        expect(cut.isWellFormed()).toBe(true)
      }
    },
  )
})

describe('the preview', () => {
  it('is a small result as text', () => {
    expect(previewOf('short')).toBe('short')
    expect(previewOf({ a: 1 })).toBe('{"a":1}')
    expect(previewOf(undefined)).toBe('null')
    expect(previewOf('x'.repeat(previewCharacters))).toBe('x'.repeat(200))
  })

  it('has at most 200 characters, and shows that it was cut', () => {
    const preview = previewOf({ text: 'x'.repeat(300) })
    expect(preview).toHaveLength(200)
    expect(preview).toMatch(/^\{"text":"x+…$/)
    const emojis = previewOf(emoji.repeat(150))
    expect(emojis.length).toBeLessThanOrEqual(200)
    expect(emojis.isWellFormed()).toBe(true)
  })
})

function nested(depth: number): unknown {
  let value: unknown = 'core'
  for (let level = 0; level < depth; level += 1) value = [value]
  return value
}

function attempt(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}
