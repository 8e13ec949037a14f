import { describe, expect, it } from 'vitest'
import { parseJson } from '#platform/exact-json.ts'
import { type Condition, holds, operators } from './conditions.ts'

type Case = [left: unknown, operator: Condition['operator'], right: unknown]

const cases: { yes: Case[]; no: Case[] } = {
  yes: [
    ['a', 'eq', 'a'],
    [100, 'eq', '100.0'],
    [true, 'eq', 'true'],
    [null, 'eq', null],
    [{ a: 1, b: [2] }, 'eq', { b: [2], a: 1 }],
    ['a', 'ne', 'A'],
    [null, 'ne', ''],
    ['100', 'gt', 20],
    [9, 'lt', '10'],
    ['b', 'gt', 'a'],
    ['2026-02-01', 'lt', '2026-11-01'],
    ['2026-03-01T10:00:00+02:00', 'lt', '2026-03-01T09:00:00Z'],
    ['2026-03-01T10:00:00.25Z', 'gt', '2026-03-01T10:00:00Z'],
    ['2026-03-01 06:00:00-05', 'gte', '2026-03-01T12:00:00+0100'],
    ['20260301T100000Z', 'gt', '2026-03-01T09:59:59.999999Z'],
    ['2026-03-01T10:00:00.0000000001Z', 'gt', '2026-03-01T10:00:00.0000Z'],
    ['2026-07-01T10:00:00[Europe/Berlin]', 'eq', '2026-07-01T08:00:00Z'],
    ['2026-03-01T10:00:00+02:00', 'eq', '2026-03-01T08:00:00.000Z'],
    ['2026-03-01T10:00:00.001Z', 'ne', '2026-03-01T10:00:00.0011Z'],
    ['2026-03-01T10:00:00+02:00', 'in', ['none', '2026-03-01t08:00z']],
    // Texts, where one of the two is no time of its own.
    ['2026-03-01T10:00:00+02:00', 'gt', '2026-03-01T09:00:00'],
    ['2026-03-01T10:00:00+02:00', 'gt', '2026-03-01'],
    ['2026-03-01T10:00:60Z', 'gt', '2026-03-01T10:00:06+01:00'],
    [100, 'gte', 100],
    ['100', 'lte', '1e2'],
    ['order paid', 'contains', 'paid'],
    [['a', 2], 'contains', '2'],
    [null, 'not_contains', 'a'],
    ['order', 'starts_with', 'or'],
    ['order', 'ends_with', 'er'],
    [0, 'exists', undefined],
    [false, 'exists', undefined],
    [null, 'not_exists', undefined],
    ['', 'empty', undefined],
    [[], 'empty', undefined],
    [{}, 'empty', undefined],
    [null, 'empty', undefined],
    [0, 'not_empty', undefined],
    [[null], 'not_empty', undefined],
    ['due', 'in', ['due', 'late']],
    [2, 'in', ['1', '2']],
    ['pa', 'in', 'paid'],
  ],
  no: [
    ['a', 'eq', 'A'],
    [null, 'eq', ''],
    [1, 'eq', true],
    ['2026-03-01T10:00:00+02:00', 'gt', '2026-03-01T09:00:00Z'],
    ['2026-03-01T10:00:00+02:00', 'gte', '2026-03-01T09:00:00[Europe/London]'],
    ['2026-03-01T10:00:00+02:00', 'eq', '2026-03-01T10:00:00Z'],
    ['2026-03-01T10:00:00', 'eq', '2026-03-01T10:00:00Z'],
    ['2026-03-01T10:00:00+02:00', 'ne', '2026-03-01T08:00:00Z'],
    ['at 2026-03-01T10:00:00+02:00', 'contains', '2026-03-01T08:00:00Z'],
    [null, 'gt', -1],
    [null, 'lt', 1],
    ['a', 'gt', 1],
    ['a', 'lt', 1],
    [{}, 'gte', {}],
    ['abc', 'contains', '.*'],
    [null, 'contains', ''],
    ['order', 'starts_with', '^o'],
    [null, 'exists', undefined],
    [' ', 'empty', undefined],
    ['paid', 'in', ['due']],
    ['a', 'in', null],
  ],
}

describe('conditions', () => {
  it.each(cases.yes)('hold: %j %s %j', async (left, operator, right) => {
    expect(await holds({ left, operator, right })).toBe(true)
  })

  it.each(cases.no)('do not hold: %j %s %j', async (left, operator, right) => {
    expect(await holds({ left, operator, right })).toBe(false)
  })

  it('are tested for each operator', () => {
    expect(new Set(cases.yes.map(([, operator]) => operator))).toEqual(new Set(operators))
  })

  /** Both sides as JSON, so that they hold numbers which no double is. */
  const equalNumbers: [left: string, right: string][] = [
    ['20', '"20.0"'],
    ['"20.0"', '"20"'],
    ['"-0"', '0'],
    ['0.1', '"0.10000000000000000000"'],
    ['" 5 "', '5'],
    ['".5"', '0.5'],
    ['1000', '"1e3"'],
    ['"1E+3"', '1000'],
    ['100000000000000000000', '"1e20"'],
    ['7615917337495251231', '"7615917337495251231"'],
    ['7615917337495251231', '7615917337495251231.0'],
    ['1e400', '"10e399"'],
    ['[9007199254740993]', '[9007199254740993]'],
    ['{"id":9007199254740993}', '{"id":9007199254740993}'],
    ['1e23', '1e23'],
    ['-1e-400', '"-1e-400"'],
  ]
  it.each(equalNumbers)('hold numbers for equal: %s eq %s', async (left, right) => {
    const condition = { left: parseJson(left), right: parseJson(right) }
    expect([
      await holds({ ...condition, operator: 'eq' }),
      await holds({ ...condition, operator: 'ne' }),
    ]).toEqual([true, false])
    expect(await holds({ ...condition, operator: 'in', right: [0.3, condition.right] })).toBe(true)
  })

  const different: [left: string, right: string][] = [
    ['"1187654321098765432"', '"1187654321098765433"'],
    ['1187654321098765432', '1187654321098765433'],
    ['1187654321098765432', '"1187654321098765433"'],
    ['[1187654321098765432]', '[1187654321098765433]'],
    ['{"id":1187654321098765432}', '{"id":1187654321098765433}'],
    ['9007199254740992', '"9007199254740993"'],
    ['"0.1"', '"0.1000000000000000055511151231257827"'],
    ['"0e1234"', '"0e5678"'],
    ['"0e1234"', '0'],
    ['"12e3"', '"120e2"'],
    ['"1e3"', '"1000"'],
    ['"007"', '7'],
    ['"007"', '"7"'],
    ['"00"', '0'],
    ['"-07"', '-7'],
    ['"0x10"', '16'],
    ['"0b11"', '3'],
    ['"+49"', '49'],
    ['"1_000"', '1000'],
    ['"5."', '5'],
    ['""', '0'],
    ['" "', '0'],
    ['1e400', '1e401'],
    ['1e-400', '0'],
    ['"1e999999999"', '1e999999998'],
  ]
  it.each(different)('hold ids and numbers apart: %s ne %s', async (left, right) => {
    const condition = { left: parseJson(left), right: parseJson(right) }
    expect([
      await holds({ ...condition, operator: 'eq' }),
      await holds({ ...condition, operator: 'ne' }),
    ]).toEqual([false, true])
    expect(await holds({ ...condition, operator: 'in', right: [0.3, condition.right] })).toBe(false)
  })

  const ascending: [less: string, more: string][] = [
    ['1187654321098765432', '1187654321098765433'],
    ['"1187654321098765432"', '1187654321098765433'],
    ['-1187654321098765433', '"-1187654321098765432"'],
    ['9', '"10"'],
    ['"9.5"', '"10"'],
    ['-1e999999999', '"1e-999999999"'],
    ['"1e999999998"', '"1e999999999"'],
    ['"0.1"', '"0.1000000000000000055511151231257827"'],
    ['-1', '"-0.99"'],
    ['0', '1e-400'],
    ['"-1e400"', '-1e399'],
    ['99999999999999999999', '1e20'],
  ]
  it.each(ascending)('order numbers by their decimal value: %s lt %s', async (less, more) => {
    const [left, right] = [parseJson(less), parseJson(more)]
    const results = (['lt', 'lte', 'gt', 'gte'] as const).map(operator => holds({ left, operator, right }))
    expect(await Promise.all(results)).toEqual([true, true, false, false])
    expect(await holds({ left: right, operator: 'gt', right: left })).toBe(true)
  })
})
