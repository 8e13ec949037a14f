import { describe, expect, it } from 'vitest'
import type { Condition } from './conditions.ts'
import { holds, operators } from './conditions.ts'

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
})
