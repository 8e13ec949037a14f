import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { execute, makeFruits } from '#test/support/sql-stage.ts'

const path = '/api/agents/default/sql'

let app: TestApp

beforeAll(async () => {
  app = await buildApp()
  await makeFruits(app)
})

afterAll(() => app.close())

const rowsOf = async (query: string, params?: unknown[]) => (await execute(app, query, params)).body.rows

describe(`running a statement ${row('POST /api/agents/{id}/sql/execute')}`, () => {
  it('answers columns, rows as arrays, their number and the time taken', async () => {
    const { status, body } = await execute(app, 'SELECT id, name, price FROM fruits ORDER BY id')
    expect(status).toBe(200)
    expect(body).toEqual({
      columns: ['id', 'name', 'price'],
      rows: [
        [1, 'apple', 0.5],
        [2, 'banana', 0.25],
        [3, 'cherry', null],
      ],
      row_count: 3,
      duration_ms: expect.any(Number),
    })
  })

  it.each([
    ['VALUES (1, 2)', [[1, 2]]],
    ['WITH cheap AS (SELECT name FROM fruits WHERE price < 0.3) SELECT name FROM cheap', [['banana']]],
    ['/* a comment */ SELECT 1 -- and another', [[1]]],
    ['; ; SELECT 1;;', [[1]]],
    ["SELECT 'a;b' || ';' -- ;", [['a;b;']]],
    ['SELECT 1 WHERE 1 = 2', []],
    ['SELECT count(*) FROM fruits', [[3]]],
    ['SELECT name AS "what\'s ; this ?" FROM fruits WHERE id = 1', [['apple']]],
    ["SELECT 'größer ✓ 🍒'", [['größer ✓ 🍒']]],
  ])('%s', async (query, rows) => {
    expect(await rowsOf(query)).toEqual(rows)
  })

  it('explains', async () => {
    for (const query of [
      'EXPLAIN SELECT * FROM fruits',
      'EXPLAIN QUERY PLAN SELECT * FROM fruits WHERE id = ?',
    ])
      expect((await execute(app, query, query.includes('?') ? [1] : [])).body.rows.length).toBeGreaterThan(0)
    const { body } = await execute(app, '/* a write */ EXPLAIN UPDATE fruits SET price = 1')
    expect(body.row_count).toBe(body.rows.length)
  })

  it('counts the rows that a write has changed, and returns those that it is asked for', async () => {
    const inserted = await execute(app, "INSERT INTO fruits (id, name) VALUES (10, 'date'), (11, 'elder')")
    expect(inserted.body).toMatchObject({ columns: [], rows: [], row_count: 2 })
    const updated = await execute(app, 'UPDATE fruits SET price = 1.5 WHERE id >= 10 RETURNING id, price')
    expect(updated.body).toMatchObject({ columns: ['id', 'price'], row_count: 2 })
    expect(updated.body.rows.toSorted()).toEqual([
      [10, 1.5],
      [11, 1.5],
    ])
    expect((await execute(app, 'DELETE FROM fruits WHERE id >= ?', [10])).body.row_count).toBe(2)
    expect(await rowsOf('SELECT count(*) FROM fruits')).toEqual([[3]])
  })

  it('runs one write after another', async () => {
    const statuses: number[] = []
    for (let write = 0; write < 130; write += 1)
      statuses.push((await execute(app, 'UPDATE fruits SET price = 0.5 WHERE id = 1')).status)
    expect(statuses).toEqual(statuses.map(() => 200))
  })

  it('runs a write that begins with WITH', async () => {
    const query =
      "WITH new AS (SELECT 20 AS id, 'fig' AS name) INSERT INTO fruits (id, name) SELECT id, name FROM new"
    expect((await execute(app, query)).body.row_count).toBe(1)
    expect((await execute(app, 'DELETE FROM fruits WHERE id = 20')).body.row_count).toBe(1)
  })
})

it('a statement that ran before finds its table as it is now', async () => {
  const change = (text: string) =>
    app.service.infrastructure.agentDatabases.use('default', ({ db }) => sql.raw(text).execute(db))
  const query = 'SELECT * FROM moons'
  await change("create table moons (name text default 'Io')")
  expect((await execute(app, query)).body.columns).toEqual(['name'])
  await change('drop table moons')
  expect((await execute(app, query)).status).not.toBe(200)
  await change("create table moons (name text default 'Io')")
  expect((await execute(app, query)).body.columns).toEqual(['name'])
  await change('alter table moons add column diameter integer')
  expect((await execute(app, query)).body.columns).toEqual(['name', 'diameter'])
  await change('drop table moons')
})

describe('parameters', () => {
  it('are texts, numbers, truth values and null, in order', async () => {
    expect(await rowsOf('SELECT id FROM fruits WHERE name = ? AND price > ?', ['apple', 0.1])).toEqual([[1]])
    expect(await rowsOf('SELECT id FROM fruits WHERE id = ?', [true])).toEqual([[1]])
    expect(await rowsOf('SELECT id FROM fruits WHERE id = 1 AND ? IS NULL', [null])).toEqual([[1]])
    expect(await rowsOf('SELECT id FROM fruits ORDER BY id LIMIT ?', [1])).toEqual([[1]])
  })

  it('are whole numbers where they are truth values, also as texts', async () => {
    await execute(app, 'INSERT INTO fruits (id, name) VALUES (?, ?)', [70, true])
    expect(await rowsOf('SELECT name FROM fruits WHERE id = 70')).toEqual([['1']])
    await execute(app, 'DELETE FROM fruits WHERE id = 70')
  })

  it('never become a part of the statement', async () => {
    expect(await rowsOf('SELECT count(*) FROM fruits WHERE name = ?', ["apple' OR '1'='1"])).toEqual([[0]])
    expect(await rowsOf('SELECT count(*) FROM fruits WHERE name = ?', ["'; DROP TABLE fruits; --"])).toEqual([
      [0],
    ])
  })

  it('stand for a question mark, unless it is in a text, a name or a comment', async () => {
    const query = `SELECT '?' /* ? */ AS "?" FROM fruits WHERE id = ? -- ?`
    expect((await execute(app, query, [2])).body).toMatchObject({ columns: ['?'], rows: [['?']] })
  })

  it('may come under the literal name of the specification', async () => {
    const call = (body: object) => app.call<{ rows: unknown }>('POST', `${path}/execute`, { body })
    const query = 'SELECT name FROM fruits WHERE id = ?'
    expect((await call({ query, 'the service': [3] })).body.rows).toEqual([['cherry']])
    expect((await call({ query, 'the service': [3], params: [3] })).status).toBe(400)
  })

  it.each([[[]], [[1, 2]], [undefined]])('%j is not one value for one parameter', async params => {
    const { status, body } = await execute(app, 'SELECT name FROM fruits WHERE id = ?', params)
    expect([status, body.error.details.field]).toEqual([400, 'query'])
  })

  it.each([[[{ a: 1 }]], [[[1]]], [{ 0: 1 }], ['1'], [Array(1001).fill(1)]])(
    '%j are no values',
    async params => {
      const body = { query: 'SELECT ?', params }
      expect((await app.call('POST', `${path}/execute`, { body })).status).toBe(400)
    },
  )

  it.each(['?1', ':name', '@name', '$1'])('are not written as %s', async parameter => {
    expect((await execute(app, `SELECT name FROM fruits WHERE id = ${parameter}`, [1])).status).toBe(400)
  })
})

describe('values of the answer', () => {
  it('are numbers as long as JavaScript holds them exactly', async () => {
    expect(await rowsOf('SELECT 9007199254740991, 9007199254740992, -9223372036854775807')).toEqual([
      [9007199254740991, '9007199254740992', '-9223372036854775807'],
    ])
  })

  it('are numbers where they are floats, which JavaScript holds exactly whatever their size', async () => {
    for (const float of [9_007_199_254_740_991, 2 ** 60, 0.1 + 0.2, 1.234_567_890_123_456_7e20]) {
      await execute(app, 'INSERT INTO fruits (id, name, price) VALUES (61, ?, ?)', ['lime', float])
      expect(await rowsOf('SELECT price FROM fruits WHERE id = 61')).toEqual([[float]])
      await execute(app, 'DELETE FROM fruits WHERE id = 61')
    }
  })

  it('are numbers where they are averages, whatever zeros these end with', async () => {
    expect(await rowsOf('SELECT avg(id), avg(id - 1.5), avg(id * 100) FROM fruits')).toEqual([[2, 0.5, 200]])
  })

  it('are texts where JSON has no such number', async () => {
    await execute(app, "INSERT INTO fruits (id, name, price) VALUES (60, 'grape', 'Infinity')")
    expect(await rowsOf('SELECT price FROM fruits WHERE id = 60')).toEqual([['Infinity']])
    await execute(app, 'DELETE FROM fruits WHERE id = 60')
  })

  it('have a base64 of their own if they are bytes', async () => {
    await app.service.infrastructure.agentDatabases.use('default', async ({ db }) => {
      const bytes = app.service.infrastructure.isExclusive ? sql`blob` : sql`bytea`
      await sql`create table pictures (content ${bytes})`.execute(db)
      await sql`insert into pictures values (${Buffer.from([0, 255, 16])})`.execute(db)
    })
    expect(await rowsOf('SELECT content FROM pictures')).toEqual([[{ base64: 'AP8Q' }]])
    await app.service.infrastructure.agentDatabases.use('default', ({ db }) =>
      sql`drop table pictures`.execute(db),
    )
  })
})

describe(`the tables ${row('GET /api/agents/{id}/sql/schema')}`, () => {
  it('are those that SQL may read, with the types of their columns', async () => {
    const { status, body } = await app.call<{ tables: { name: string; columns: unknown[] }[] }>(
      'GET',
      `${path}/schema`,
    )
    expect(status).toBe(200)
    expect(body.tables.map(({ name }) => name)).toEqual([
      'browser_recordings',
      'browser_sessions',
      'calendar_tasks',
      'channel_threads',
      'chat_files',
      'chunks',
      'contacts',
      'conversations',
      'crawl_pages',
      'executions',
      'fruits',
      'mcp_servers',
      'mcp_tools',
      'messages',
      'node_results',
      'payment_notifications',
      'schedule_executions',
      'schedules',
      'sources',
      'task_occurrences',
      'tool_approvals',
      'tools',
      'transactions',
      'workflow_versions',
      'workflows',
      'x402_resources',
    ])
    expect(body.tables.find(({ name }) => name === 'fruits')?.columns).toEqual([
      { name: 'id', type: 'integer', nullable: false },
      { name: 'name', type: 'text', nullable: false },
      { name: 'price', type: 'real', nullable: true },
    ])
    expect(body.tables.find(({ name }) => name === 'messages')?.columns).toContainEqual({
      name: 'sequence',
      type: 'integer',
      nullable: false,
    })
  })
})

describe('errors', () => {
  it.each([
    ['SELEC 1'],
    ['SELECT FROM'],
    ['SELECT * FROM no_such_table'],
    ['SELECT no_such_column FROM fruits'],
    ['SELECT id FROM fruits a, fruits b'],
    ['SELECT no_such_function(1)'],
    ['INSERT INTO fruits VALUES (1, 2, 3, 4)'],
    ['SELECT 1; SELECT 2'],
    [''],
    ['   '],
    [';'],
    ['-- nothing'],
    ['(SELECT 1)'],
    ["SELECT 'unfinished"],
  ])(`%j is no statement ${errorRow('sql', 400)}`, async query => {
    const { status, body } = await execute(app, query)
    expect([status, body.error?.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(body.error.details.field).toBe('query')
  })

  it.each([
    ["INSERT INTO fruits (id, name) VALUES (1, 'again')", /unique/i],
    ["INSERT INTO fruits (id, name) VALUES (50, 'apple')", /unique/i],
    ['INSERT INTO fruits (id, name) VALUES (51, NULL)', /null/i],
  ])(`%s fails while it runs ${errorRow('sql', 500)}`, async (query, cause) => {
    const { status, body } = await execute(app, query)
    expect([status, body.error.code]).toEqual([500, 'SQL_FAILED'])
    expect(body.error.message).toMatch(cause)
    expect(await rowsOf('SELECT count(*) FROM fruits')).toEqual([[3]])
  })

  it.each([
    ['CREATE TABLE x (a integer)'],
    ['DROP TABLE fruits'],
    ['ALTER TABLE fruits ADD COLUMN z integer'],
  ])(`%s is refused ${errorRow('sql', 403)}`, async query => {
    const { status, body } = await execute(app, query)
    expect([status, body.error.code]).toEqual([403, 'FORBIDDEN'])
    expect(body.error.message).toContain(query.split(' ', 1)[0])
  })
})

describe('an agent of its own', () => {
  it('has a database that SQL of others does not reach', async () => {
    const own = await testApp({ environment: { DEV_USER: 'owner@example.com' } })
    const other = await makeAgent(own)
    await own.service.infrastructure.agentDatabases.use(other, ({ db }) =>
      sql`create table secrets (a integer)`.execute(db),
    )
    expect((await execute(own, 'SELECT a FROM secrets', [], other)).status).toBe(200)
    expect((await execute(own, 'SELECT a FROM secrets')).status).toBe(400)
    expect((await own.call('DELETE', `/api/agents/${other}`)).status).toBe(200)
    expect((await execute(own, 'SELECT 1', [], other)).status).toBe(404)
  })
})
