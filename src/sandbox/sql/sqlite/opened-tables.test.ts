import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { createPool } from './pool.ts'

/** What an operator may have made, beside a table of the service that is hidden. */
const schema = `
  pragma journal_mode = wal;
  create table conversations (title text);
  create table agent_facts (name text);
  insert into agent_facts values ('hidden');
  create table fruits (id integer primary key autoincrement, name text);
  create table prices (name text unique, price real);
  insert into prices values ('apple', 0.5);
  create virtual table notes using fts5 (name);
  insert into notes values ('apple pie');
  create view named as select name from fruits full join prices using (name);
  create trigger priced after insert on prices begin insert into fruits (name) values (new.name); end;
`

function stage() {
  const path = join(temporaryDirectory(), 'agent.db')
  const database = new DatabaseSync(path)
  database.exec(schema)
  const pool = createPool({ synchronous: 'normal' })
  onTestFinished(() => {
    pool.close()
    database.close()
  })
  const run = (query: string) =>
    pool.run(path, { query, parameters: [], readOnly: false, writes: true, maxRows: 100 }, [])
  return { database, run }
}

const refused = { code: 'FORBIDDEN' }

it('tables that may be read can be joined by the names of their columns, also where they are virtual', async () => {
  const { run } = stage()
  await run("insert into prices values ('banana', 0.25)")
  for (const [query, rows] of [
    ['select name, id from fruits natural join prices', [['banana', 1]]],
    ['select name from named order by name', [['apple'], ['banana']]],
    ['select name from fruits full join notes using (name) order by name', [['apple pie'], ['banana']]],
    ["select rowid from notes where notes match 'pie'", [[1]]],
    ["select name from (select 'id' as name) natural join pragma_table_info('fruits')", [['id']]],
    ["select value from (select 1 as value) natural join json_each('[1, 2]')", [[1]]],
    ['select name from (select name from sqlite_schema) natural join fruits', []],
  ] as const)
    expect((await run(query)).rows, query).toEqual(rows)
})

it('a table that numbers its rows can be written in every way', async () => {
  const { run } = stage()
  for (const query of [
    "insert into fruits (name) values ('cherry') returning id",
    "insert into fruits (id, name) values (1, 'date') on conflict (id) do update set name = excluded.name",
    "insert into prices values ('elder', 1)",
    'update fruits set name = upper(name)',
    'delete from fruits where id = 1',
  ])
    await run(query)
  expect((await run('select id, name from fruits')).rows).toEqual([[2, 'ELDER']])
})

it('what a statement opens is checked again when the schema has changed', async () => {
  const { database, run } = stage()
  const query = 'select name from named'
  expect((await run(query)).rows).toEqual([['apple']])
  database.exec(
    'drop view named; create view named as select name from fruits full join agent_facts using (name)',
  )
  await expect(run(query)).rejects.toMatchObject(refused)
  database.exec('drop view named; create view named as select name from fruits')
  expect((await run(query)).rows).toEqual([])
})

it('a view of a virtual table is no way to the rows of it', async () => {
  const { database, run } = stage()
  database.exec('create view fruits_of_pages as select name from dbstat')
  await expect(run('select name from fruits full join dbstat using (name)')).rejects.toMatchObject(refused)
})
