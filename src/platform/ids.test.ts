import { expect, it } from 'vitest'
import { randomIds } from './ids.ts'

const many = 2000

it('records have ids that do not repeat', () => {
  expect(new Set(Array.from({ length: many }, () => randomIds.record())).size).toBe(many)
})

it('records sort as they were made', () => {
  const ids = Array.from({ length: many }, () => randomIds.record())
  expect(ids.toSorted()).toEqual(ids)
})

it('tool calls have nine letters and digits, of every kind', () => {
  const calls = Array.from({ length: many }, () => randomIds.toolCall())
  for (const id of calls) expect(id).toMatch(/^[A-Za-z0-9]{9}$/)
  expect(new Set(calls).size).toBe(many)
  expect(new Set(calls.join('')).size).toBe(62)
})
