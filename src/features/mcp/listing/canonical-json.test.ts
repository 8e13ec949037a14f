import { describe, expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'

describe('canonical JSON', () => {
  it.each([
    [{ b: 1, a: { d: [1, { z: 1, y: 2 }], c: null } }, '{"a":{"c":null,"d":[1,{"y":2,"z":1}]},"b":1}'],
    [{ a: undefined, b: [undefined] }, '{"b":[null]}'],
    [JSON.parse('{"__proto__":1,"a":2}'), '{"__proto__":1,"a":2}'],
    ['"', '"\\""'],
    [[], '[]'],
    [{}, '{}'],
  ])('of %j is %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  it('differs for different values, and tells no other types apart than JSON does', () => {
    const values = [{ a: 1 }, { a: '1' }, { a: [1] }, { b: 1 }, { a: 1, b: 1 }, ['a', 1], null, 'null']
    expect(new Set(values.map(value => canonicalJson(value))).size).toBe(values.length)
  })

  it('gives up what is nested too deeply, however deep that is', () => {
    const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)
    expect(canonicalJson(nested(60))).toBeDefined()
    expect(canonicalJson(nested(100))).toBeUndefined()
    expect(canonicalJson({ a: nested(100_000) })).toBeUndefined()
  })
})
