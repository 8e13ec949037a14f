import { describe, expect, it } from 'vitest'
import { isExactNumber, parseJson, withDoubles, withNumbersAsText } from './exact-json.ts'

const kept = [
  '9007199254740993',
  '-7615917337495251231',
  '0.12345678901234567',
  '123456789012345678901234567890.5',
  '1e400',
  '-1E+400',
  '1e-400',
  '1e999999999999999999999',
  '9'.repeat(100),
]
/** Those that a double holds, as it writes them. */
const doubles = [
  ['0', '0'],
  ['1e3', '1000'],
  ['1.5E2', '150'],
  ['1e23', '1e+23'],
  ['0.30000000000000004', '0.30000000000000004'],
  ['0.100000000000000000', '0.1'],
  ['1234567890123456', '1234567890123456'],
  ['9007199254740992', '9007199254740992'],
  ['-0.000000000000000000001', '-1e-21'],
  ['0e999', '0'],
]

describe('exact JSON', () => {
  it.each(kept)('keeps %s', number => {
    for (const json of [number, `[${number}]`, `{"a":{"b":[1,${number}]}}`, `[{"a":${number}},"${number}"]`])
      expect(JSON.stringify(parseJson(json))).toBe(json)
    expect(isExactNumber(parseJson(` ${number}`))).toBe(true)
    expect(withNumbersAsText(`{"a": ${number},\n"b":\t${number}}`)).toBe(
      `{"a": "${number}",\n"b":\t"${number}"}`,
    )
  })

  it.each(doubles)('makes %s a number', (number, written) => {
    expect(parseJson(`[${number}]`)).toEqual([Number(number)])
    expect(JSON.stringify(parseJson(number))).toBe(written)
    expect(JSON.parse(withNumbersAsText(`[${number}]`))).toEqual([Number(number)])
  })

  it('leaves texts and names as they are', () => {
    const json = String.raw`{"9007199254740993":"id 9007199254740993, 1e400","__proto__":"\\\"[9007199254740993]\\"}`
    const among = `[12345678901234567,${json}]`
    expect(JSON.stringify(parseJson(json))).toBe(json)
    expect(JSON.stringify(parseJson(among))).toBe(among)
    expect(withNumbersAsText(json)).toBe(json)
  })

  it.each(['[00012345678901234567]', '{12345678901234567890:1}', '[1e]', '[12345678901234567890.]'])(
    'refuses what is no JSON: %s',
    json => expect(() => parseJson(json)).toThrow(SyntaxError),
  )

  it('gives doubles to what checks a schema', () => {
    expect(withDoubles(parseJson('{"a":[9007199254740993,1e400,-1e400,1e-400,1]}'))).toEqual({
      a: [9007199254740992, Number.MAX_VALUE, -Number.MAX_VALUE, 0, 1],
    })
  })
})
