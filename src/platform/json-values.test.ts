import { describe, expect, it } from 'vitest'
import { hasMoreValuesThan, withoutLongStrings } from './json-values.ts'

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

describe('JSON without its long strings', () => {
  const long = 'x'.repeat(20_000)
  it.each([
    ['', ''],
    ['{"a":"b"}', '{"a":"b"}'],
    [`{"a":"${long}","b":[1]}`, '{"a":"","b":[1]}'],
    [`["${long}","${long}"]`, '["",""]'],
    [String.raw`{"a":"${long}\",[\\","b":1}`, '{"a":"","b":1}'],
    [`{"${long}":12345678901234567890}`, '{"":12345678901234567890}'],
    [`{"a":"${long}`, '{"a":"'],
  ])('keeps all else', (json, outline) => {
    expect(withoutLongStrings(json)).toBe(outline)
  })
})
