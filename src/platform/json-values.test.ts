import { describe, expect, it } from 'vitest'
import { hasMoreValuesThan } from './json-values.ts'

describe('the values of JSON', () => {
  it.each([
    ['', 0],
    ['{"a":1}', 2],
    ['[1,2,3]', 3],
    ['[[],[],{}]', 6],
    ['"a,b,[c],{d}"', 0],
    [String.raw`["a\",b\\", "c"]`, 2],
    [String.raw`["\\\"", 1]`, 2],
    ['{"a":\n[1,2]}', 4],
  ])('are counted in %s', (json, count) => {
    expect(hasMoreValuesThan(Buffer.from(json), count)).toBe(false)
    if (count > 0) expect(hasMoreValuesThan(Buffer.from(json), count - 1)).toBe(true)
  })
})
