/** What people may try with SQL, and what becomes of it on either engine. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { refusals } from '#test/support/sql-refusals.ts'
import { execute, makeFruits } from '#test/support/sql-stage.ts'

let app: TestApp

beforeAll(async () => {
  app = await buildApp()
  await makeFruits(app)
  if (app.service.infrastructure.isExclusive) await makeIndirectReaders()
})

/** What an operator may have made and what opens a hidden table by names that are matched; all of this is SQLite's wording. */
function makeIndirectReaders() {
  return app.service.infrastructure.agentDatabases.use('default', async ({ db }) => {
    const names = 'select name from fruits full join agent_facts using (name)'
    for (const statement of [
      `create view facts_view as ${names}`,
      'create table numbered (id integer primary key autoincrement, name text)',
      'create table baskets (name text)',
      "insert into baskets values ('large')",
      `create trigger filled after insert on baskets begin update fruits set name = (${names}); end`,
      `create trigger changed after update on baskets begin update fruits set name = (${names}); end`,
    ])
      await sql.raw(statement).execute(db)
  })
}

afterAll(() => app.close())

/** All that a statement could have changed. */
function everything() {
  return app.service.infrastructure.agentDatabases.use('default', async ({ db }) => {
    const { rows } = await sql`select id, name, price from fruits order by id`.execute(db)
    const counts = [
      'conversations',
      'messages',
      'sources',
      'chunks',
      'outbox',
      'agent_facts',
      'kysely_migration',
    ]
    const sizes = counts.map(
      async name => (await sql`select * from ${sql.table(name)}`.execute(db)).rows.length,
    )
    const tables = await app.call('GET', '/api/agents/default/sql/schema')
    return { rows, sizes: await Promise.all(sizes), tables: tables.body }
  })
}

const short = (query: string) =>
  query.length > 100 ? `${query.slice(0, 60)}… (${query.length} characters)` : query

describe('a statement that may not do what it says', () => {
  it.each(refusals.map(refusal => [short(refusal.query), refusal] as const))(
    '%s',
    async (_title, refusal) => {
      const before = await everything()
      const { status, body } = await execute(app, refusal.query, refusal.params)
      const engine = app.service.infrastructure.isExclusive ? 'sqlite' : 'postgres'
      const expected = typeof refusal.status === 'object' ? refusal.status[engine] : (refusal.status ?? 403)
      expect({ status, message: body.error?.message }).toMatchObject({ status: expected })
      if (expected === 403) expect(body.error.code).toBe('FORBIDDEN')
      expect(await everything()).toEqual(before)
      expect((await app.call('GET', '/healthz')).status).toBe(200)
    },
  )
})

interface PublicStatement {
  sql: string
  expect: 'allow' | 'forbid' | 'invalid' | 'guard' | 'limit'
  params?: unknown[]
  note?: string
}

const statuses = {
  allow: [200],
  forbid: [403],
  invalid: [400],
  guard: [400, 403],
  limit: [200, 400, 500],
}

/** Words that SQLite alone knows. */
const onlySqlite = /sqlite_schema|pragma_table_info|GROUP_CONCAT/i

const fixtures = process.env.REAL_FIXTURES

describe.skipIf(fixtures === undefined)('the public corpus of statements (needs REAL_FIXTURES)', () => {
  const file = fixtures === undefined ? undefined : join(fixtures, 'security', 'sql-statements.json')
  const statements: PublicStatement[] =
    file === undefined ? [] : JSON.parse(readFileSync(file, 'utf8')).statements

  beforeAll(async () => {
    const { agentDatabases, isExclusive } = app.service.infrastructure
    const number = isExclusive ? sql`integer primary key autoincrement` : sql`serial primary key`
    await agentDatabases.use('default', async ({ db }) => {
      await sql`create table t (id ${number}, name text)`.execute(db)
      await sql`insert into t (name) values ('one'), ('two'), ('three')`.execute(db)
    })
  })

  it.each(statements.map(statement => [statement.sql, statement] as const))(
    '%s',
    async (query, statement) => {
      const { status } = await execute(app, query, statement.params)
      const isForeign = !app.service.infrastructure.isExclusive && onlySqlite.test(query)
      const isSeveral = statement.note?.startsWith('several statements') === true
      const allowed = isForeign || isSeveral ? [400] : statuses[statement.expect]
      expect(allowed).toContain(status)
      expect((await execute(app, 'SELECT count(*) FROM t')).status).toBe(200)
    },
  )
})
