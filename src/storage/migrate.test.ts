import { join } from 'node:path'
import { Kysely } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startProgram } from '#test/support/child-process.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { migrate } from './migrate.ts'
import { createSqliteDialect } from './sqlite/connections/dialect.ts'
import { openDatabase } from './sqlite/connections/open.ts'
import { schemaParts } from './sqlite/schema-parts.ts'
import { type AgentTables, agentTables, migrationsOf, type PlatformTables, platformTables } from './tables.ts'

function open<Tables>(path = join(temporaryDirectory(), 'a.db')) {
  const database = openDatabase(path, { synchronous: 'normal' })
  const db = new Kysely<Tables>({ dialect: createSqliteDialect({ database }) })
  onTestFinished(() => db.destroy())
  return { db, database }
}

async function openAgent(path?: string) {
  const opened = open<AgentTables>(path)
  await migrate(opened.db, migrationsOf(agentTables, schemaParts))
  return opened
}

const at = '2026-01-01T00:00:00.000Z'
const conversation = { id: 'c1', title: 'Talk', message_count: 0, created_at: at, lock_token: 0 }
const message = (id: string) => ({
  id,
  conversation_id: 'c1',
  role: 'user',
  content: 'Hello',
  created_at: at,
})
const source = {
  id: 's1',
  type: 'file',
  name: 'a.txt',
  status: 'pending',
  progress: 0,
  config: '{}',
  created_at: at,
  updated_at: at,
}
const chunk = { id: 'k1', source_id: 's1', content: 'text', start_offset: 0, end_offset: 4 }
const entry = (id: string, key: string | null, failed_at: string | null = null) => ({
  id,
  name: 'work',
  key,
  payload: '{}',
  run_at: at,
  attempts: 0,
  failures: 0,
  lane: 'documents' as const,
  failed_at,
  created_at: at,
})

test('sessions of before proofs of addresses end, and prove a first sign-in', async () => {
  const { db } = open<PlatformTables>()
  const all = Object.entries(migrationsOf(platformTables, schemaParts))
  await migrate(db, Object.fromEntries(all.filter(([name]) => name < '0044')))
  const session = { id: 's1', token_hash: 'x', email: 'ada@example.com', name: null, user_agent: null }
  const times = { created_at: at, last_used_at: at, expires_at: '2099-01-01T00:00:00.000Z' }
  const former = open<{ sessions: Omit<PlatformTables['sessions'], 'proved_by'> }>
  await (db as unknown as ReturnType<typeof former>['db'])
    .insertInto('sessions')
    .values({ ...session, ...times })
    .execute()
  await migrate(db, Object.fromEntries(all))
  expect(await db.selectFrom('sessions').select('id').execute()).toEqual([])
  expect(await db.selectFrom('session_agents').selectAll().execute()).toEqual([])
  const facts = db.selectFrom('platform_facts').select('name').where('name', '=', 'first_sign_in')
  expect(await facts.execute()).toHaveLength(1)
})

test('migrating again changes nothing', async () => {
  const { db, database } = await openAgent()
  const schema = () => database.prepare('select sql from sqlite_schema').all()
  const before = schema()
  await migrate(db, migrationsOf(agentTables, schemaParts))
  expect(schema()).toEqual(before)
})

test('an old database comes to have the tables of a new one, with every column that is declared', async () => {
  const old = open<AgentTables>()
  const all = Object.entries(migrationsOf(agentTables, schemaParts))
  const before = all.filter(([name]) => name < '0017')
  await migrate(old.db, Object.fromEntries(before))
  await migrate(old.db, Object.fromEntries(all))
  const columns = ({ database }: typeof old) =>
    database
      .prepare(
        'select m.name as "table", c.* from sqlite_schema m, pragma_table_info(m.name) c order by 1, cid',
      )
      .all()
  const fresh = columns(await openAgent())
  expect(columns(old)).toEqual(fresh)
  const found = new Set(fresh.map(({ table, name }) => `${table}.${name}`))
  for (const set of Object.values(agentTables))
    for (const [table, declared] of Object.entries(set.columns))
      for (const column of Object.keys(declared)) expect(found).toContain(`${table}.${column}`)
})

test('rows of the audit log that an earlier build has left in the outbox are still on their way', async () => {
  const { db } = open<AgentTables>()
  const all = migrationsOf(agentTables, schemaParts)
  await migrate(db, Object.fromEntries(Object.entries(all).filter(([name]) => name < '0041')))
  const rows = [
    { ...entry('a', null), name: 'audit', payload: '{"id":"a"}' },
    { ...entry('b', null), name: 'audit', payload: '{"id":"b"}' },
  ]
  await db
    .insertInto('outbox')
    .values([...rows, entry('c', null)])
    .execute()
  await migrate(db, all)
  const left = await db.selectFrom('audit_rows').select('payload').orderBy('payload').execute()
  expect(left.map(({ payload }) => payload)).toEqual(['{"id":"a"}', '{"id":"b"}'])
})

test('stored contacts come to have the keys of today, unless another one has them', async () => {
  const { db } = open<AgentTables>()
  const all = migrationsOf(agentTables, schemaParts)
  const before = Object.fromEntries(Object.entries(all).filter(([name]) => name < '0020'))
  await migrate(db, before)
  const merged = [
    { id: 'x', phone: '+49 30 7', 'metadata.merged': [{ id: 'y', email: 'Y@example.com', name: 'Y' }] },
    { id: 'z', messenger_handle: '@Z', social_handle: 'Zed' },
  ]
  const contacts: [id: string, fields: object, stored: object][] = [
    ['a', { phone: '+49 (0)30 5550101' }, { phone: '+49305550101' }],
    ['b', { phone: '+49 (0)30 5550102' }, { phone: '+49 (0)30 5550102' }],
    ['c', { phone: '+49 30 5550102' }, { phone: '+49 30 5550102' }],
    ['d', { messenger_number: '\u202a+49 171 5550103\u202c' }, { messenger_number: '+49 171 5550103' }],
    ['e', { email: '\u200bE@example.com', phone: 'abc' }, { email: 'E@example.com', phone: 'abc' }],
    ['f', { messenger_handle: '@f\u2060' }, { messenger_handle: '@f' }],
    ['g', { metadata: JSON.stringify({ merged }) }, {}],
    ['h', { metadata: '"merged"', phone: '030 1' }, { phone: '030 1' }],
    ...Array.from({ length: 60 }, (_, n): [string, object, object] => [
      `n${n}`,
      { phone: `0049 (0)40 55501${n + 10}` },
      { phone: `+494055501${n + 10}` },
    ]),
  ]
  const values = contacts.map(([id, fields]) => ({ id, name: id, metadata: '{}', ...fields }))
  await db.insertInto('contacts').values(values).execute()
  await migrate(db, all)
  const rows = await db.selectFrom('contacts').selectAll().orderBy('id').execute()
  const byId = new Map(rows.map(row => [row.id, row]))
  for (const [id, , stored] of contacts) expect(byId.get(id)).toMatchObject({ id, ...stored })
  const former = await db
    .selectFrom('contact_addresses')
    .selectAll()
    .orderBy('field')
    .orderBy('key')
    .execute()
  expect(former.map(({ field, key, contact_id }) => [field, key, contact_id])).toEqual([
    ['email', 'y@example.com', 'g'],
    ['messenger_handle', 'z', 'g'],
    ['phone', '49307', 'g'],
    ['social_handle', 'zed', 'g'],
  ])
})

test('messages go with their conversation and chunks with their source; sequence numbers are never used twice', async () => {
  const { db } = await openAgent()
  await db.insertInto('conversations').values(conversation).execute()
  await db
    .insertInto('messages')
    .values([message('m1'), message('m2')])
    .execute()
  await db.insertInto('sources').values(source).execute()
  await db.insertInto('chunks').values(chunk).execute()

  await db.deleteFrom('conversations').execute()
  await db.deleteFrom('sources').execute()
  expect(await db.selectFrom('messages').selectAll().execute()).toEqual([])
  expect(await db.selectFrom('chunks').selectAll().execute()).toEqual([])

  await db.insertInto('conversations').values(conversation).execute()
  const next = await db.insertInto('messages').values(message('m3')).returning('sequence').executeTakeFirst()
  expect(next?.sequence).toBe(3)
})

test('a message needs a conversation, and identifiers are unique', async () => {
  const { db } = await openAgent()
  await expect(db.insertInto('messages').values(message('m1')).execute()).rejects.toThrow(/FOREIGN KEY/)
  await db.insertInto('conversations').values(conversation).execute()
  await db.insertInto('messages').values(message('m1')).execute()
  await expect(db.insertInto('messages').values(message('m1')).execute()).rejects.toThrow(/UNIQUE/)
})

test('an outbox key is unique among entries that wait or run, not among failed ones or those without', async () => {
  const { db } = await openAgent()
  await db
    .insertInto('outbox')
    .values([entry('a', null), entry('b', null), entry('c', 'k', at), entry('d', 'k', at), entry('e', 'k')])
    .execute()
  await expect(db.insertInto('outbox').values(entry('f', 'k')).execute()).rejects.toThrow(/UNIQUE/)
})

test("an agent's admins and credentials go with it", async () => {
  const { db } = open<PlatformTables>()
  await migrate(db, migrationsOf(platformTables, schemaParts))
  const agent = {
    id: 'a',
    name: 'A',
    name_key: 'a',
    description: '',
    status: 'active',
    settings: '{}',
    created_at: at,
    updated_at: at,
  }
  await db.insertInto('agents').values(agent).execute()
  const admin = { agent_id: 'a', email: 'a@example.com', role: 'owner', created_at: at }
  await db
    .insertInto('agent_admins')
    .values({ id: '1', ...admin })
    .execute()
  await expect(
    db
      .insertInto('agent_admins')
      .values({ id: '2', ...admin })
      .execute(),
  ).rejects.toThrow(/UNIQUE/)
  await db.insertInto('agent_credentials').values({ agent_id: 'a', name: 'key', sealed: 'x' }).execute()
  await db.deleteFrom('agents').execute()
  expect(await db.selectFrom('agent_admins').selectAll().execute()).toEqual([])
  expect(await db.selectFrom('agent_credentials').selectAll().execute()).toEqual([])
})

test('the list that each page asks for comes out of an index, without sorting', async () => {
  const { database } = await openAgent()
  const plan = (sql: string) =>
    database
      .prepare(`explain query plan ${sql}`)
      .all()
      .map(row => String(row.detail))
      .join('; ')
  expect(plan("select * from messages where conversation_id = 'c' order by sequence")).toMatch(
    /^SEARCH.*messages_con/,
  )
  expect(plan('select * from conversations order by last_message_at desc')).toMatch(
    /conversations_last_message_at$/,
  )
  expect(plan("select * from chunks where source_id = 's' order by start_offset")).toMatch(
    /^SEARCH.*chunks_so/,
  )
  const free = "lane = 'documents' and failed_at is null and lease_holder is null"
  expect(plan(`select * from outbox where ${free} and run_at <= 'now' order by run_at, id`)).toMatch(
    /^SEARCH.*outbox_free[^;]*$/,
  )
})

describe('kill -9 in the middle of a migration', () => {
  const program = new URL('../../test/support/programs/freeze-in-migration.ts', import.meta.url)

  async function countStatements(): Promise<number> {
    const counting = startProgram(program, join(temporaryDirectory(), 'a.db'), 'Infinity')
    return Number((await counting.line()).replace('statements: ', ''))
  }

  test.each([0.5, 0.75, 1])(
    'leaves a database that opens whole, having died at %d of the way',
    async share => {
      const path = join(temporaryDirectory(), 'a.db')
      const dying = startProgram(program, path, String(Math.floor((await countStatements()) * share)))
      expect(await dying.line()).toBe('frozen in transaction: true')
      await dying.kill()

      const { db, database } = await openAgent(path)
      expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
      const fresh = await openAgent()
      const schema = (of: typeof database) =>
        of.prepare('select name, sql from sqlite_schema order by name').all()
      expect(schema(database)).toEqual(schema(fresh.database))
      await db.insertInto('sources').values(source).execute()
    },
  )
})
