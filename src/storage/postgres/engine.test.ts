import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { eventually } from '#test/support/eventually.ts'
import { createTestDatabase, queryDatabase } from '#test/support/postgres/databases.ts'
import { createAgentDatabases } from '../agent-databases.ts'
import type { StorageEngine } from '../engine.ts'
import { openPlatformDatabase } from '../platform-database.ts'
import { createEngine } from './engine.ts'

function engineFor(url: string): StorageEngine {
  const engine = createEngine({ url, maxConnections: 4, onError: () => {} })
  onTestFinished(() => engine.close())
  return engine
}

async function newDatabase(): Promise<string> {
  const database = await createTestDatabase()
  if (database === undefined) throw new Error('these tests need a server of PostgreSQL')
  onTestFinished(() => database.remove())
  return database.url
}

/** Two processes with a platform database and agents of one database. */
async function openTwice(url: string) {
  const processes = [engineFor(url), engineFor(url)]
  return Promise.all(
    processes.map(async engine => {
      const platform = await openPlatformDatabase(engine)
      const agentDatabases = createAgentDatabases({ engine, platform, log: createLog('silent') })
      onTestFinished(() => agentDatabases.close())
      return { engine, platform, agentDatabases }
    }),
  )
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Waits until a statement that begins like this waits for a lock. */
async function untilWaiting(url: string, statement: string): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and query like '${statement}%' and wait_event_type = 'Lock'`
  await eventually(async () => expect(await queryDatabase(url, waiting)).toHaveLength(1))
}

const time = '2026-01-01T00:00:00.000Z'

function agentRow(id: string) {
  return {
    id,
    name: id,
    name_key: id,
    description: '',
    status: 'active',
    settings: '{}',
    created_at: time,
    updated_at: time,
  }
}

describe('a database of PostgreSQL', () => {
  it('is made by processes that start at once', async () => {
    const url = await newDatabase()
    const [one, other] = await openTwice(url)
    await one?.platform.insertInto('agents').values(agentRow('a')).execute()
    expect(await other?.platform.selectFrom('agents').select('id').execute()).toEqual([{ id: 'a' }])
    const opened = [one, other].map(process =>
      process?.agentDatabases.use('a', ({ db }) => db.selectFrom('messages').selectAll().execute()),
    )
    expect(await Promise.all(opened)).toEqual([[], []])
  })

  it('migrates an agent while another one is being migrated', async () => {
    const url = await newDatabase()
    const [process] = await openTwice(url)
    for (const id of ['a', 'b']) await process?.platform.insertInto('agents').values(agentRow(id)).execute()
    const other = await connect(url)
    // The first migration of one agent waits for what somebody else is about to make.
    await other.query('create schema agent_a')
    await other.query('begin')
    await other.query("create function agent_a.fold_case(value text) returns text language sql return ''")
    const opening = process?.agentDatabases.use('a', async () => 'opened')
    await untilWaiting(url, 'create function fold_case')
    expect(await process?.agentDatabases.use('b', async () => 'opened')).toBe('opened')
    await other.query('rollback')
    expect(await opening).toBe('opened')
  })

  it('keeps agents apart on connections that they share', async () => {
    const [process] = await openTwice(await newDatabase())
    if (process === undefined) throw new Error('there is no process')
    const ids = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const id of ids) await process.platform.insertInto('agents').values(agentRow(id)).execute()
    const write = (id: string, n: number) =>
      process.agentDatabases.use(id, ({ db }) =>
        db
          .insertInto('agent_facts')
          .values({ name: `${id}${n}`, value: id })
          .execute(),
      )
    await Promise.all(ids.flatMap(id => Array.from({ length: 20 }, (_, n) => write(id, n))))
    for (const id of ids) {
      const facts = await process.agentDatabases.use(id, ({ db }) =>
        db.selectFrom('agent_facts').selectAll().execute(),
      )
      expect(facts.map(({ value }) => value)).toEqual(Array.from({ length: 20 }, () => id))
    }
  })

  it('goes with its agent, also for a process that has it open', async () => {
    const url = await newDatabase()
    const [one, other] = await openTwice(url)
    await one?.platform.insertInto('agents').values(agentRow('a')).execute()
    for (const process of [one, other]) await process?.agentDatabases.use('a', async () => {})
    await one?.platform.deleteFrom('agents').where('id', '=', 'a').execute()
    await one?.agentDatabases.remove('a')
    expect(
      await queryDatabase(url, "select nspname from pg_namespace where nspname like 'agent\\_%'"),
    ).toEqual([])
    await expect(one?.agentDatabases.acquire('a')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('goes with its agent also where another process works in it', async () => {
    const url = await newDatabase()
    // Of two that wait for each other the first one to look is ended: here the one that removes.
    await queryDatabase(url, `alter database ${new URL(url).pathname.slice(1)} set deadlock_timeout = '2s'`)
    const [process] = await openTwice(url)
    await process?.platform.insertInto('agents').values(agentRow('a')).execute()
    await process?.agentDatabases.use('a', async () => {})
    await process?.platform.deleteFrom('agents').where('id', '=', 'a').execute()
    const other = await connect(url)
    await other.query("set deadlock_timeout = '1min'")
    await other.query('begin')
    await other.query('select from agent_a.messages')
    const removing = process?.agentDatabases.remove('a')
    await untilWaiting(url, 'drop schema')
    const [locked] = await queryDatabase<{ name: string }>(
      url,
      `select relname as name from pg_locks join pg_class on pg_class.oid = relation
       where granted and database = (select oid from pg_database where datname = current_database()) and mode = 'AccessExclusiveLock' and relkind = 'r' and relname <> 'messages'`,
    )
    await other.query(`select from agent_a.${locked?.name}`)
    await other.query('commit')
    await removing
    expect(
      await queryDatabase(url, "select nspname from pg_namespace where nspname like 'agent\\_%'"),
    ).toEqual([])
  })

  it('goes with its agent also where another process changes privileges in it', async () => {
    const url = await newDatabase()
    const [process] = await openTwice(url)
    await process?.platform.insertInto('agents').values(agentRow('a')).execute()
    await process?.agentDatabases.use('a', async () => {})
    await process?.platform.deleteFrom('agents').where('id', '=', 'a').execute()
    // What version 15 answers then, at the first attempt; newer ones seldom do.
    await queryDatabase(
      url,
      `create sequence public.attempts;
      create function public.meet() returns event_trigger language plpgsql as $$ begin
        if nextval('public.attempts') = 1 then
          raise exception 'tuple concurrently updated' using errcode = 'XX000';
        end if;
      end $$;
      create event trigger meet on ddl_command_start when tag in ('DROP SCHEMA') execute function public.meet()`,
    )
    await process?.agentDatabases.remove('a')
    expect(
      await queryDatabase(url, "select nspname from pg_namespace where nspname like 'agent\\_%'"),
    ).toEqual([])
  })

  it('orders text by its characters, and folds the case of all languages', async () => {
    const [process] = await openTwice(await newDatabase())
    if (process === undefined) throw new Error('there is no process')
    for (const id of ['b', 'a-c', 'a1', 'ab'])
      await process.platform.insertInto('agents').values(agentRow(id)).execute()
    const rows = await process.platform.selectFrom('agents').select('id').orderBy('id').execute()
    expect(rows.map(({ id }) => id)).toEqual(['a-c', 'a1', 'ab', 'b'])
    const { rows: folded } = await process.platform.executeQuery<{ text: string }>(
      process.platform
        .selectNoFrom(({ fn, val }) => fn<string>('fold_case', [val('ÄÖÜ ΠΡΟΣ ПРИВЕТ')]).as('text'))
        .compile(),
    )
    expect(folded).toEqual([{ text: 'äöü προς привет' }])
  })
})

describe('a database that cannot be used', () => {
  it('is refused with the reason, without the password', async () => {
    const refused = (url: string) =>
      openPlatformDatabase(engineFor(url)).catch(error => String(error.message))
    const server = new URL(inject('postgresUrl') ?? '')
    server.password = 'hunter2'
    server.pathname = 'there-is-none'
    expect(await refused(server.href)).toMatch(
      /^The database there-is-none at 127\.0\.0\.1:\d+ can't be opened: .*does not exist/,
    )
    server.port = '1'
    expect(await refused(server.href)).toMatch(/ECONNREFUSED.*Check DATABASE_URL/)
    expect(await refused(server.href)).not.toContain('hunter2')
  })
})

it('an agent whose schema was lost is an error that names it, until that is accepted', async () => {
  const url = await newDatabase()
  const [one, other] = await openTwice(url)
  if (one === undefined || other === undefined) throw new Error('there are two')
  await one.platform.insertInto('agents').values(agentRow('a')).execute()
  await one.agentDatabases.use('a', async () => {})
  await queryDatabase(url, 'drop schema "agent_a" cascade')
  await expect(other.agentDatabases.acquire('a')).rejects.toMatchObject({
    code: 'DATA_DAMAGED',
    message: expect.stringContaining('agent_a'),
  })
  const accepting = createEngine({ url, maxConnections: 4, acceptsLoss: true, onError: () => {} })
  onTestFinished(() => accepting.close())
  const agent = await accepting.openAgent('a', { mustExist: true })
  await agent.db.destroy()
})
