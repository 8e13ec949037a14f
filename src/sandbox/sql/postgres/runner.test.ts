/** What protects the rest of a server of PostgreSQL from the SQL of an agent, beyond what statements are let through. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { queryDatabase } from '#test/support/postgres/databases.ts'
import { storageEnvironment } from '#test/support/postgres/environment.ts'
import { execute, makeFruits } from '#test/support/sql-stage.ts'

async function databaseOf(app: TestApp): Promise<string> {
  const { DATABASE_URL } = await storageEnvironment(app.dataDirectory)
  if (DATABASE_URL === undefined) throw new Error('these tests need a server of PostgreSQL')
  return DATABASE_URL
}

/** The roles for SQL of agents in the database of this app. */
async function rolesOf(app: TestApp): Promise<string[]> {
  const rows = await queryDatabase<{ name: string }>(
    await databaseOf(app),
    `select rolname as name from pg_roles, pg_database
     where datname = current_database() and starts_with(rolname, 'agentstead_sql_' || pg_database.oid || '_')`,
  )
  return rows.map(({ name }) => name)
}

async function loginAs(app: TestApp, role: string): Promise<pg.Client> {
  const address = new URL(await databaseOf(app))
  address.username = role
  address.password = app.service.infrastructure.secretBox.derive(['sql role', role])
  const client = new pg.Client({ connectionString: address.href })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Runs a first statement, and tells the role that was made for it. */
async function useSql(app: TestApp): Promise<string> {
  await makeFruits(app)
  expect((await execute(app, 'SELECT 1')).status).toBe(200)
  const [role = ''] = await rolesOf(app)
  return role
}

async function appWithRole() {
  const app = await testApp()
  return { app, role: await useSql(app) }
}

describe('the role of an agent, with its own password', () => {
  let app: TestApp
  let role: string

  beforeAll(async () => {
    app = await buildApp()
    role = await useSql(app)
  })

  afterAll(() => app.close())

  it.each([
    ['create table stolen (a integer)', '42501'],
    ['create schema stolen', '42501'],
    ['create role stolen', '42501'],
    ['alter role current_user superuser', '42501'],
    ['set role postgres', '42501'],
    ['set session authorization postgres', '42501'],
    ['select * from agentstead.agents', '42501'],
    ['select * from agentstead.agent_credentials', '42501'],
    ['select * from outbox', '42501'],
    ['insert into sources select * from sources', '42501'],
    ['update conversations set lock_token = 1', '42501'],
    ['delete from messages', '42501'],
    ['truncate fruits', '42501'],
    ['drop table fruits', '42501'],
    ['alter table fruits add column z integer', '42501'],
    ['create trigger t after insert on fruits execute function now()', '42501'],
    ["copy fruits to '/tmp/fruits'", '42501'],
    ["select pg_read_file('/etc/passwd')", '42501'],
    ['select * from pg_authid', '42501'],
    ["select nextval('messages_sequence_seq')", '42501'],
  ])('may not: %s', async (statement, code) => {
    const client = await loginAs(app, role)
    await expect(client.query(statement)).rejects.toMatchObject({ code })
  })

  it('sees one schema, with limits that a statement begins under', async () => {
    const client = await loginAs(app, role)
    const { rows } = await client.query(`select current_schemas(false)::text as schemas,
      current_setting('statement_timeout') as timeout, current_setting('idle_session_timeout') as idle`)
    expect(rows).toEqual([{ schemas: '{agent_default}', timeout: '5s', idle: '1min' }])
    expect((await client.query('select count(*)::integer as count from fruits')).rows).toEqual([{ count: 3 }])
  })

  it('can not log in with another password', async () => {
    const address = new URL(await databaseOf(app))
    address.username = role
    address.password = 'guessed'
    const client = new pg.Client({ connectionString: address.href })
    await expect(client.connect()).rejects.toMatchObject({ code: '28P01' })
  })
})

describe('roles', () => {
  it('are one for each agent that SQL was run on, and go with it', async () => {
    const app = await testApp({ environment: { DEV_USER: 'owner@example.com' } })
    const id = await makeAgent(app)
    expect((await execute(app, 'SELECT 1', [], id)).status).toBe(200)
    expect((await execute(app, 'SELECT 1')).status).toBe(200)
    expect(await rolesOf(app)).toHaveLength(2)
    expect((await app.call('DELETE', `/api/agents/${id}`)).status).toBe(200)
    expect(await rolesOf(app)).toHaveLength(1)
  })

  it('get rights on a table that was made after they had been given', async () => {
    const { app } = await appWithRole()
    await queryDatabase(
      await databaseOf(app),
      'create table agent_default.later (a serial primary key, b integer)',
    )
    expect((await execute(app, 'INSERT INTO later (b) VALUES (1) RETURNING a')).body.rows).toEqual([[1]])
  })

  it('are as they should be after somebody has changed them', async () => {
    const { app, role } = await appWithRole()
    const url = await databaseOf(app)
    await queryDatabase(url, `alter role ${role} password 'other'`)
    await queryDatabase(url, `grant all on agent_default.outbox to ${role}`)
    const again = await testApp({ dataDirectory: app.dataDirectory })
    expect((await execute(again, 'SELECT 1')).status).toBe(200)
    expect((await execute(again, 'SELECT * FROM outbox')).status).toBe(403)
  })

  it('may connect where not everybody may, and can still be dropped', async () => {
    const app = await testApp({ environment: { DEV_USER: 'owner@example.com' } })
    const url = await databaseOf(app)
    await queryDatabase(url, `revoke connect on database "${new URL(url).pathname.slice(1)}" from public`)
    const id = await makeAgent(app)
    expect((await execute(app, 'SELECT 1', [], id)).status).toBe(200)
    expect((await app.call('DELETE', `/api/agents/${id}`)).status).toBe(200)
    expect(await rolesOf(app)).toEqual([])
  })

  it('are made for many agents at once where not everybody may connect', async () => {
    const app = await testApp({ environment: { DEV_USER: 'owner@example.com' } })
    const url = await databaseOf(app)
    await queryDatabase(url, `revoke connect on database "${new URL(url).pathname.slice(1)}" from public`)
    const ids: string[] = []
    for (let n = 0; n < 12; n += 1) ids.push(await makeAgent(app))
    // They are opened before, so that nothing but their roles is made together.
    await Promise.all(ids.map(id => app.call('GET', `/api/agents/${id}/sql/schema`)))
    const answers = await Promise.all(ids.map(id => execute(app, 'SELECT 1', [], id)))
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200))
  })

  it('have their rights again after the schema was put back from a dump', async () => {
    const { app, role } = await appWithRole()
    const url = await databaseOf(app)
    await queryDatabase(url, `revoke all on schema agent_default from ${role}`)
    await queryDatabase(url, `revoke all on all tables in schema agent_default from ${role}`)
    expect((await execute(app, 'SELECT count(*) FROM fruits')).body.rows).toEqual([[3]])
  })

  it('that the server does not let in are told of, and end no other request', async () => {
    const { app, role } = await appWithRole()
    await queryDatabase(await databaseOf(app), `alter role ${role} nologin`)
    await queryDatabase(
      await databaseOf(app),
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`,
    )
    // The connection may still be there at first.
    await eventually(async () => {
      const { status, body } = await execute(app, 'SELECT 1')
      expect([status, body.error.code]).toEqual([500, 'SQL_UNAVAILABLE'])
    })
    expect((await app.call('GET', '/healthz')).status).toBe(200)
    // It is prepared anew, which lets it in.
    expect((await execute(app, 'SELECT 1')).status).toBe(200)
  })
})

describe('a service whose user may not create roles', () => {
  it('starts, and says so where SQL is asked for', async () => {
    const serverUrl = inject('postgresUrl') ?? ''
    const name = `agentstead_test_${randomBytes(6).toString('hex')}`
    await queryDatabase(serverUrl, `create role ${name} login`)
    await queryDatabase(serverUrl, `create database ${name} owner ${name}`)
    onTestFinished(async () => {
      await queryDatabase(serverUrl, `drop database ${name} with (force)`)
      await queryDatabase(serverUrl, `drop role ${name}`)
    })
    const url = new URL(serverUrl)
    url.pathname = name
    url.username = name
    const app = await testApp({ environment: { DATABASE_URL: url.href } })
    const { status, body } = await execute(app, 'SELECT 1')
    expect([status, body.error.code]).toEqual([500, 'SQL_UNAVAILABLE'])
    expect(body.error.message).toContain('createrole')
    expect((await app.call('GET', '/api/agents/default/sql/schema')).status).toBe(200)
    expect((await execute(app, 'DROP TABLE sources')).status).toBe(403)
  })
})

describe('connections', () => {
  it('are few, whatever is asked at once', async () => {
    const { app } = await appWithRole()
    const url = await databaseOf(app)
    const statements = Array.from({ length: 60 }, (_, index) =>
      execute(app, 'SELECT count(*), ? FROM fruits', [index]),
    )
    const answers = await Promise.all(statements)
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const rows = await queryDatabase(
      url,
      "select 1 from pg_stat_activity where datname = current_database() and application_name = 'agentstead_sql'",
    )
    expect(rows.length).toBeLessThanOrEqual(2)
  })

  it('carry nothing from one statement to the next', async () => {
    const { app } = await appWithRole()
    for (let round = 0; round < 3; round += 1) {
      const { body } = await execute(
        app,
        "SELECT current_setting('statement_timeout'), count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()",
      )
      expect(body.rows).toEqual([['5s', 0]])
    }
  })
})

describe('a statement that nobody waits for any more', () => {
  const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'

  const run = (app: TestApp, query: string, signal: AbortSignal) =>
    app.service.infrastructure.agentDatabases.use('default', agent =>
      app.service.infrastructure.sqlRunner.run(
        agent,
        { query, parameters: [], readOnly: false, maxRows: 1 },
        signal,
      ),
    )

  const never = new AbortController().signal

  /** A statement whose end others can be compared with. */
  function followed(statement: Promise<unknown>) {
    let isOver = false
    const end = statement
      .catch(() => {})
      .finally(() => {
        isOver = true
      })
    return { end, isOver: () => isOver }
  }

  const active = async (url: string) =>
    queryDatabase(
      url,
      `select 1 from pg_stat_activity where datname = current_database() and state = 'active'
       and application_name = 'agentstead_sql'`,
    )

  it('is ended by the server, too, before its time is over', async () => {
    const { app } = await appWithRole()
    const url = await databaseOf(app)
    // Its time is over before that of the other one would be.
    const before = followed(run(app, endless, never))
    await eventually(async () => expect(await active(url)).toHaveLength(1))
    const client = new AbortController()
    const running = run(app, endless, client.signal)
    await eventually(async () => expect(await active(url)).toHaveLength(2))
    client.abort(new Error('went away'))
    await expect(running).rejects.toThrow('went away')
    await eventually(async () => expect(await active(url)).toHaveLength(1))
    expect(before.isOver()).toBe(false)
    await before.end
  })

  it('is not begun', async () => {
    const { app } = await appWithRole()
    const write = "INSERT INTO fruits (id, name) VALUES (99, 'late')"
    await expect(run(app, write, AbortSignal.abort(new Error('gone before')))).rejects.toThrow('gone before')
    expect((await execute(app, 'SELECT 1 FROM fruits WHERE id = 99')).body.rows).toEqual([])
  })

  it('is not begun when its caller goes before it has a connection', async () => {
    const { app } = await appWithRole()
    const before = followed(run(app, 'SELECT pg_sleep(4.5)', never))
    const client = new AbortController()
    const running = run(app, 'SELECT pg_sleep(4.5)', client.signal)
    queueMicrotask(() => client.abort(new Error('gone meanwhile')))
    await expect(running).rejects.toThrow('gone meanwhile')
    expect(before.isOver()).toBe(false)
    await before.end
  })
})
