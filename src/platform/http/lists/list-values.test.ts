import { describe, expect, it } from 'vitest'
import type { ListParameters, Page } from './list-query.ts'
import { listValues } from './list-values.ts'

const fruits = [
  { name: 'Pear', grams: 180, ripe: true, parts: ['core'] },
  { name: 'Äpfel', grams: 150, ripe: false, parts: [] },
  { name: 'Fig', grams: 50, ripe: true, parts: [] },
  { name: 'Plum', grams: 50, ripe: false, parts: [] },
]

function names(parameters: ListParameters): string {
  return listValues(fruits, parameters)
    .rows.map(({ name }) => name)
    .join(' ')
}

it.each<[parameters: ListParameters, expected: string]>([
  [{}, 'Pear Äpfel Fig Plum'],
  [{ limit: 2 }, 'Pear Äpfel'],
  [{ limit: 2, offset: 1 }, 'Äpfel Fig'],
  [{ offset: 9 }, ''],
  [{ search: 'P' }, 'Pear Äpfel Plum'],
  [{ search: 'äP' }, 'Äpfel'],
  [{ search: '%' }, ''],
  [{ sort: ['name'] }, 'Fig Pear Plum Äpfel'],
  [{ sort: ['grams,name'], order: ['asc,desc'] }, 'Plum Fig Äpfel Pear'],
  [{ sort: ['ripe', 'grams'], order: ['desc', 'asc'] }, 'Fig Pear Plum Äpfel'],
  [{ order: ['desc'] }, 'Pear Äpfel Fig Plum'],
  [{ from: '2026-02-01', to: '2026-02-01T12:00Z' }, 'Pear Äpfel Fig Plum'],
])('%j lists %s', (parameters, expected) => {
  expect(names(parameters)).toBe(expected)
})

it('counts what is found, not what is shown', () => {
  expect(listValues(fruits, { search: 'p', limit: 1, offset: 1 }).meta).toEqual({
    total: 3,
    limit: 1,
    offset: 1,
    has_more: true,
  })
  expect(listValues([], {}).meta).toEqual({ total: 0, limit: 50, offset: 0, has_more: false })
})

it('ends a page early where its values are too large, and goes on with the next one', () => {
  const first = listValues(fruits, { limit: 3, cursor: '' }, () => 2)
  expect(first.rows).toEqual(fruits.slice(0, 2))
  expect(first.meta).toMatchObject({ limit: 3, has_more: true })
  const cursor = first.meta.next_cursor ?? ''
  expect(listValues(fruits, { limit: 1, cursor }).rows).toEqual(fruits.slice(2, 3))
})

it.each<[parameters: ListParameters, message: string]>([
  [{ sort: ['colour'] }, 'must be one of name, grams, ripe, not colour'],
  [{ sort: ['parts'] }, 'must be one of name, grams, ripe, not parts'],
  [{ sort: ['constructor'] }, 'not constructor'],
  [{ sort: ['name', 'name'] }, 'must name each field once'],
  [{ order: ['up'] }, 'must be asc or desc, not up'],
  [{ from: 'yesterday' }, 'from: must be an ISO 8601 date or time'],
  [{ to: '2026-02-30' }, 'to: names a day that does not exist'],
])('refuses %j', (parameters, message) => {
  expect(() => listValues(fruits, parameters)).toThrow(message)
})

it('sorts what a value lacks before what it has, and an empty list by anything', () => {
  const some = [{ name: 'b', size: 1 }, { name: 'a' }]
  expect(listValues<object>(some, { sort: ['size'] }).rows).toEqual([{ name: 'a' }, { name: 'b', size: 1 }])
  expect(listValues([], { sort: ['whatever'] }).rows).toEqual([])
})

describe('a cursor', () => {
  it('leads through all pages', () => {
    const seen: string[] = []
    let cursor: string | null | undefined = ''
    while (typeof cursor === 'string') {
      const { rows, meta }: Page<{ name: string }> = listValues(fruits, { sort: ['name'], limit: 3, cursor })
      seen.push(...rows.map(({ name }) => name))
      expect(seen.length).toBeLessThanOrEqual(4)
      expect(meta.has_more).toBe(meta.next_cursor !== null)
      cursor = meta.next_cursor
    }
    expect(seen).toEqual(['Fig', 'Pear', 'Plum', 'Äpfel'])
  })

  const second = listValues(fruits, { sort: ['name'], limit: 1, cursor: '' }).meta.next_cursor ?? ''
  const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  it.each<ListParameters>([
    { cursor: second },
    { cursor: second, sort: ['grams'] },
    { cursor: second, sort: ['name'], order: ['desc'] },
    { cursor: 'x' },
    { cursor: forged(['', -1]) },
    { cursor: forged(['', 0.5]) },
    { cursor: forged(['', '1']) },
    { cursor: forged(['', 1, 2]) },
  ])('is refused where it does not belong: %j', parameters => {
    expect(() => listValues(fruits, parameters)).toThrow('must be a next_cursor of this list')
  })
})
