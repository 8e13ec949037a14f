import { expect, it } from 'vitest'
import { processorTime } from '#test/support/processor-time.ts'
import { createMask, hiddenValue, maskJson, maskWithin } from './mask.ts'

const values = ['correct-horse-9', 'x y', '12', 'nfoo', 'type', '"quoted"', 'a'.repeat(300)]
const mask = createMask(values)

it('masks long texts as short ones, wherever their portions end', async () => {
  for (const offset of [0, 1, 2, 65_530, 65_535, 65_536, 131_000])
    for (const value of [...values, encodeURIComponent('x y')]) {
      const text = `${'-'.repeat(offset)}${value}.${'é'.repeat(70_000)} ${value}`
      expect(await mask.long(text)).toBe(mask(text))
      expect(await mask.long(text)).not.toContain(value)
    }
})

it('masks JSON as its values', async () => {
  const value = {
    type: 12,
    list: ['12', 'a\nfoo 12', '"quoted"', null, true],
    text: `${'b'.repeat(70_000)}type`,
  }
  expect(JSON.parse(await maskJson(JSON.stringify(value), mask, true))).toEqual({
    ...(maskWithin(value, mask) as object),
  })
  expect(JSON.parse(await maskJson(JSON.stringify(value), mask, false))).toMatchObject({
    type: 12,
    list: [hiddenValue, `a\nfoo ${hiddenValue}`, hiddenValue, null, true],
  })
})

it('takes time in proportion to the text, whatever the values', async () => {
  const similar = Array.from({ length: 200 }, (_, n) => `${'a'.repeat(750 + n)}b`)
  const spent = await processorTime(() =>
    expect(createMask(similar)(`${'a'.repeat(500_000)}b`)).toBe(`${'a'.repeat(499_051)}${hiddenValue}`),
  )
  expect(spent).toBeLessThan(2000)
})

it('hides all of values that overlap', () => {
  expect(createMask(['abcdef', 'defghi', 'cdef'])('-abcdefghi-abcdef-cdef')).toBe(
    ['', '', '', ''].join(`-${hiddenValue}`),
  )
})
