import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { seededRandom } from '#test/support/random.ts'
import { execute, makeFruits, numbers } from '#test/support/sql-stage.ts'

const path = '/api/agents/default/sql/execute'

let app: TestApp

beforeAll(async () => {
  app = await buildApp()
  await makeFruits(app)
})

afterAll(() => app.close())

const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'

describe('the answer', () => {
  it('has at most 10,000 rows, and says so', async () => {
    const all = await execute(app, `${numbers(10_000)} SELECT i FROM n`)
    expect(all.body).toMatchObject({ row_count: 10_000, columns: ['i'] })
    expect(all.body.truncated).toBeUndefined()
    const more = await execute(app, `${numbers(10_001)} SELECT i FROM n`)
    expect(more.body).toMatchObject({ row_count: 10_000, truncated: true })
    expect(more.body.rows.at(-1)).toEqual([10_000])
  })

  it('has at most 8 MiB, and says so', async () => {
    const megabyte = 'x'.repeat(90_000)
    const { status, body } = await execute(app, `${numbers(1000)} SELECT i, '${megabyte}' FROM n`)
    expect([status, body.truncated]).toEqual([200, true])
    expect(body.rows).toHaveLength(Math.floor((8 * 1024 * 1024) / (90_000 + 11)))
    expect(body.row_count).toBe(body.rows.length)
  })

  it('keeps all of a write whose rows do not all fit', async () => {
    const query = `${numbers(10_500)} INSERT INTO fruits (id, name) SELECT i + 1000, 'fruit ' || i FROM n WHERE true RETURNING id`
    const { body } = await execute(app, query)
    expect(body).toMatchObject({ row_count: 10_500, truncated: true })
    expect(body.rows).toHaveLength(10_000)
    expect((await execute(app, 'DELETE FROM fruits WHERE id > 1000')).body.row_count).toBe(10_500)
  })
})

describe('a statement that does not end', () => {
  it('is stopped after 5 s, while others of this and of other agents run', async () => {
    const begin = performance.now()
    let isOver = false
    const runaway = execute(app, endless).finally(() => {
      isOver = true
    })
    let answered = 0
    for (; !isOver; answered += 1) {
      const answers = await Promise.all([
        execute(app, 'SELECT count(*) FROM fruits'),
        app.call('GET', '/healthz'),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
    }
    const { status, body } = await runaway
    expect([status, body.error.code]).toEqual([500, 'SQL_FAILED'])
    expect(body.error.message).toContain('5 s')
    expect(performance.now() - begin).toBeGreaterThan(4_900)
    // The first may be answered before the statement has begun; one that waited for its end would be the last.
    expect(answered).toBeGreaterThan(2)
  })

  it('that writes leaves nothing behind', async () => {
    const query = `${endless.replace('SELECT count(*) FROM n', '')} INSERT INTO fruits (id, name) SELECT i + 5000, 'fruit ' || i FROM n`
    const { status } = await execute(app, query)
    expect(status).toBe(500)
    expect((await execute(app, 'SELECT count(*) FROM fruits')).body.rows).toEqual([[3]])
    expect((await execute(app, "INSERT INTO fruits (id, name) VALUES (4, 'after')")).body.row_count).toBe(1)
    expect((await execute(app, 'DELETE FROM fruits WHERE id = 4')).body.row_count).toBe(1)
  })
})

it('an agent is talked to while a statement writes without end', async () => {
  const chat = () => app.call('POST', '/api/agents/default/chat', { body: { content: 'Hello' } })
  // What the first one waits for besides is no matter here.
  await chat()
  const query = `${endless.replace('SELECT count(*) FROM n', '')} UPDATE fruits SET price = (SELECT count(*) FROM n) WHERE id = 1`
  let isOver = false
  const writing = execute(app, query).finally(() => {
    isOver = true
  })
  let longest = 0
  while (!isOver) {
    const begin = performance.now()
    const { status } = await chat()
    expect(status).toBe(200)
    longest = Math.max(longest, performance.now() - begin)
  }
  expect((await writing).body.error.code).toBe('SQL_FAILED')
  // The statement itself would end after five seconds.
  expect(longest).toBeLessThan(4_500)
})

describe('many at once', () => {
  it('all get their own answer', async () => {
    const asked = Array.from({ length: 200 }, (_, index) => index)
    const answers = await Promise.all(
      asked.map(index => execute(app, 'SELECT ? || name FROM fruits WHERE id = ?', [`${index} `, 1])),
    )
    expect(answers.map(({ body }) => body.rows)).toEqual(asked.map(index => [[`${index} apple`]]))
  })

  it('do not mix agents', async () => {
    const own = await testApp({ environment: { DEV_USER: 'owner@example.com' } })
    const ids: string[] = []
    for (const name of ['One', 'Two', 'Three', 'Four', 'Five', 'Six']) {
      const id = await makeAgent(own, { name })
      ids.push(id)
      await own.service.infrastructure.agentDatabases.use(id, async ({ db }) => {
        await sql`create table owner (name text)`.execute(db)
        await sql`insert into owner values (${name})`.execute(db)
      })
    }
    const rounds = Array.from({ length: 8 }, () => ids).flat()
    const answers = await Promise.all(rounds.map(id => execute(own, 'SELECT name FROM owner', [], id)))
    expect(answers.map(({ body }) => body.rows?.[0]?.[0])).toEqual(
      rounds.map(id => ['One', 'Two', 'Three', 'Four', 'Five', 'Six'][ids.indexOf(id)]),
    )
  })
})

describe('malformed requests', () => {
  it.each([
    ['', 400],
    ['{', 400],
    ['null', 400],
    ['[]', 400],
    ['"SELECT 1"', 400],
    ['{"query": null}', 400],
    ['{"query": 1}', 400],
    ['{"query": ["SELECT 1"]}', 400],
    ['{"params": []}', 400],
    ['{"query": "SELECT 1", "params": {}}', 400],
    ['{"query": "SELECT ?", "params": [{}]}', 400],
    ['{"query": "SELECT ?", "params": [[1]]}', 400],
    ['{"query": "SELECT \\u0000"}', 400],
    ['{"query": "SELECT \\ud800"}', 400],
    ['{"query": "SELECT ?", "params": ["\\u0000"]}', 400],
    ['{"__proto__": {"query": "SELECT 1"}, "query": "SELECT 1"}', 400],
    [`{"query": "SELECT '${'x'.repeat(1_100_000)}'"}`, 413],
  ])('%.60s', async (payload, expected) => {
    const { status } = await app.call('POST', path, {
      payload,
      headers: { 'content-type': 'application/json' },
    })
    expect(status).toBe(expected)
  })

  it('of any kind end in an answer that blames the request, or runs', async () => {
    const { next, pick } = seededRandom(29)
    const words =
      `SELECT INSERT UPDATE DELETE FROM WHERE fruits name id ( ) ' " \` [ ] ; , . * ? ?1 :a @b $1 $$ $a$ -- /* */ x' e'\\' U&" 1 1e5
      0x1F NULL AND OR || -> ->> :: VALUES WITH AS UNION PRAGMA EXPLAIN \u{1f352} \\ % _ LIKE BETWEEN CASE WHEN END`.split(
        /\s+/,
      )
    for (let round = 0; round < 400; round += 1) {
      const query = Array.from({ length: 1 + Math.floor(next() * 15) }, () => pick(words)).join(
        next() < 0.5 ? ' ' : '',
      )
      const params = Array.from({ length: Math.floor(next() * 3) }, () => (next() < 0.5 ? 1 : 'a'))
      const { status, body } = await execute(app, query, params)
      expect({
        query,
        isExpected: [200, 400, 403].includes(status) || body.error?.code === 'SQL_FAILED',
      }).toEqual({ query, isExpected: true })
    }
    expect((await execute(app, 'SELECT count(*) > 0 FROM fruits')).status).toBe(200)
  })
})
