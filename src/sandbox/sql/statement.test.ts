import { describe, expect, it } from 'vitest'
import { maxLength } from './limits.ts'
import { readStatement } from './statement.ts'
import { type Dialect, tokensOf } from './tokens.ts'

const dialects = ['sqlite', 'postgres'] as const

const words = (sql: string, dialect: Dialect) =>
  tokensOf(sql, dialect).map(({ kind, text }) => `${kind} ${text}`)

describe.each(dialects)('the words of a statement, in %s', dialect => {
  it.each([
    ["SELECT 'it''s ?' x", ['word select', "text 'it''s ?'", 'word x']],
    ['a -- ?\n b', ['word a', 'word b']],
    ['a /* ? */ b', ['word a', 'word b']],
    ['"a""b" "?"', ['name a"b', 'name ?']],
    ["x'00' X'FF'", ["text x'00'", "text X'FF'"]],
    ['größe $', ['word größe', 'symbol $']],
    ["'no end ? ;", ["text 'no end ? ;"]],
  ])('%j', (sql, expected) => {
    expect(words(sql, dialect)).toEqual(expected)
  })

  it.each(['(', '[', '`', '"', "'", "e'\\' ", '/*', '$a$ ', '\\', 'a ', '--\n', ':'])(
    'are found in a time that its length bounds, also in %j over and over',
    unit => {
      const units = Array.from({ length: maxLength / (unit.length + 6) }, (_, index) =>
        unit.includes('$') ? `$a${index.toString(36)}$ ` : unit,
      )
      const before = process.cpuUsage()
      readStatement(`SELECT ${units.join('')}`, dialect)
      expect(process.cpuUsage(before).user / 1000).toBeLessThan(500)
    },
  )
})

describe('what only one engine knows', () => {
  it.each<[Dialect, string, string[]]>([
    ['sqlite', '[a ?] `b ?`', ['name a ?', 'name b ?']],
    ['sqlite', '/* /* */ drop', ['word drop']],
    ['postgres', '/* /* */ drop */ select', ['word select']],
    ['postgres', '$$ ? $$ $a$ $$ $a$', ['text $$ ? $$', 'text $a$ $$ $a$']],
    ['postgres', "E'\\' ? ' x", ["text E'\\' ? '", 'word x']],
    ['postgres', "'\\' x", ["text '\\'", 'word x']],
    ['postgres', 'a::text', ['word a', 'symbol :', 'symbol :', 'word text']],
  ])('%s: %j', (dialect, sql, expected) => {
    expect(words(sql, dialect)).toEqual(expected)
  })
})

describe.each(dialects)('a statement, in %s', dialect => {
  it.each([
    ['SELECT 1', 'select'],
    ['  /* x */ ; select 1 ;; -- y', 'select'],
    ['With a as (select 1) delete from b', 'with'],
    ['EXPLAIN QUERY PLAN SELECT 1', 'explain'],
    ['EXPLAIN (ANALYZE, VERBOSE) SELECT 1', 'explain'],
    ['PRAGMA user_version', 'pragma'],
  ])('%j is a %s', (query, kind) => {
    expect(readStatement(query, dialect)).toMatchObject({ kind })
  })

  it.each([
    ['', 'invalid'],
    ['nonsense', 'invalid'],
    ['SELECT 1; SELECT 2', 'invalid'],
    ['SELECT ?1', 'invalid'],
    ['VACUUM', 'forbidden'],
    ['EXPLAIN (FORMAT json) VACUUM', 'invalid'],
    ['SELECT lo_import (1)', 'forbidden'],
  ])('%j is %s', (query, kind) => {
    expect(readStatement(query, dialect)).toEqual({ kind, message: expect.any(String) })
  })
})
