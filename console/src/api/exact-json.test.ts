import { expect, it } from 'vitest'
import { parseExact } from './exact-json.ts'

it.each([
  '12345678901234567890',
  '-0.1234567890123456789',
  '1e400',
  '1E-400',
  '{"id":9007199254740993,"list":[1.5,"9007199254740993",null,true]}',
])('%s is written as it was', json => expect(JSON.stringify(parseExact(json))).toBe(json))

it('numbers that a double holds are numbers', () => {
  expect(parseExact('{"a":[0,-7,1.25,123456789012345]}')).toEqual({ a: [0, -7, 1.25, 123456789012345] })
})
