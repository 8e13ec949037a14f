import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { type OpenOptions, openDatabase } from './open.ts'

function open(path: string, options: OpenOptions) {
  const database = openDatabase(path, options)
  onTestFinished(() => database.close())
  return database
}

function pragma(database: ReturnType<typeof open>, name: string): unknown {
  return Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]
}

test.each([
  ['normal', 1],
  ['full', 2],
] as const)('a database is opened in WAL mode with its guards on, synchronous=%s', (synchronous, code) => {
  const database = open(join(temporaryDirectory(), 'a.db'), { synchronous })
  const names = ['journal_mode', 'synchronous', 'foreign_keys', 'trusted_schema', 'busy_timeout']
  expect(names.map(name => pragma(database, name))).toEqual(['wal', code, 1, 0, 0])
})

test('a reader in a worker waits for locks but cannot write', () => {
  const path = join(temporaryDirectory(), 'a.db')
  open(path, { synchronous: 'normal' }).exec('create table notes (name text)')
  const reader = open(path, { synchronous: 'normal', readOnly: true, busyTimeout: 250 })
  expect(pragma(reader, 'busy_timeout')).toBe(250)
  expect(() => reader.exec("insert into notes values ('a')")).toThrow(/readonly/)
})

test('no extension can be loaded', () => {
  const database = open(join(temporaryDirectory(), 'a.db'), { synchronous: 'normal' })
  expect(() => database.loadExtension('anything.so')).toThrow(/not allowed/)
})

test('a crafted schema cannot write to the shadow tables of an index', () => {
  const database = open(join(temporaryDirectory(), 'a.db'), { synchronous: 'normal' })
  database.exec('create virtual table words using fts5(word)')
  expect(() => database.exec('delete from words_data')).toThrow(/may not be modified/)
})

test('letter case is folded beyond ASCII, and null stays null', () => {
  const database = open(join(temporaryDirectory(), 'a.db'), { synchronous: 'normal' })
  const folded = database.prepare('select fold_case(?) as text')
  expect(['ÄÖÜ Straße', 'ΣΊΣΥΦΟΣ', 'ПРИВЕТ', null, 5].map(value => folded.get(value)?.text)).toEqual([
    'äöü straße',
    'σίσυφος',
    'привет',
    null,
    '5',
  ])
})
