import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import {
  createSource,
  fetchedSource,
  passages,
  refreshed,
  settled,
  sources,
} from '#test/support/fetched-source.ts'
import { execute, makeFruits, numbers } from '#test/support/sql-stage.ts'

let app: TestApp

beforeAll(async () => {
  app = await buildApp()
  await makeFruits(app)
})

afterAll(() => app.close())

const change = (statement: string) =>
  app.service.infrastructure.agentDatabases.use('default', ({ db }) => sql.raw(statement).execute(db))

const fruits = { type: 'database', name: 'Fruits', query: 'SELECT name, price FROM fruits ORDER BY id' }

describe(`a query as a source ${row('POST /api/agents/{id}/sources')}`, () => {
  it('answers at once, and its rows are searchable with the names of their columns', async () => {
    const answer = await createSource(app, fruits)
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      type: 'database',
      name: 'Fruits',
      status: 'processing',
      created_at: expect.any(String),
    })
    const source = await settled(app, answer.body.id)
    expect(source).toMatchObject({
      type: 'database',
      status: 'ready',
      progress: 1,
      chunks: 1,
      config: { query: fruits.query, chunk_size: 1000, overlap: 150, method: 'semantic' },
    })
    expect(source.config.fetched_at).toBeDefined()
    expect(await passages(app, source.id, 'price of the banana')).toEqual([
      'name: apple\nprice: 0.5\n\nname: banana\nprice: 0.25\n\nname: cherry',
    ])
  })

  it('is cut as it was asked for', async () => {
    const query = `${numbers(200)} SELECT i AS number, 'tide' AS word FROM n`
    const wishes = { chunk_size: 200, overlap: 0, method: 'fixed' }
    const source = await fetchedSource(app, { type: 'database', name: 'Numbers', query, ...wishes })
    expect(source).toMatchObject({ status: 'ready', config: wishes })
    expect(source.chunks).toBeGreaterThan(20)
  })

  it('is fetched anew by refresh and by reindex alike', async () => {
    const { id } = await fetchedSource(app, fruits)
    await change("insert into fruits (id, name) values (10, 'durian')")
    expect((await passages(app, id, 'durian')).join()).not.toContain('durian')
    expect(await refreshed(app, id)).toMatchObject({ status: 'ready', progress: 1 })
    expect((await passages(app, id, 'durian')).join()).toContain('name: durian')
    await change('delete from fruits where id = 10')
    expect(await refreshed(app, id, 'reindex')).toMatchObject({ status: 'ready' })
    expect((await passages(app, id, 'durian')).join()).not.toContain('durian')
  })

  it('is updating meanwhile, stays searchable, and takes no second refresh', async () => {
    const { id } = await fetchedSource(app, fruits)
    const { body } = await app.call('POST', `${sources}/${id}/refresh`)
    expect(body).toMatchObject({ id, type: 'database', status: 'updating' })
    expect(await passages(app, id, 'banana')).toHaveLength(1)
    const again = await app.call('POST', `${sources}/${id}/refresh`)
    const ended = await settled(app, id)
    expect([200, 409]).toContain(again.status)
    expect(ended.status).toBe('ready')
  })

  it('without rows is ready and empty, and keeps nothing that is gone', async () => {
    await change('create table tides (name text)')
    await change("insert into tides values ('spring tide')")
    const { id } = await fetchedSource(app, { type: 'database', name: 'Tides', query: 'SELECT * FROM tides' })
    expect(await passages(app, id, 'spring')).toHaveLength(1)
    await change('delete from tides')
    expect(await refreshed(app, id)).toMatchObject({ status: 'ready', chunks: 0 })
    expect(await passages(app, id, 'spring')).toEqual([])
  })

  it('that fails later tells why, and keeps the last good content', async () => {
    await change('create table moons (name text)')
    await change("insert into moons values ('Callisto')")
    const { id } = await fetchedSource(app, { type: 'database', name: 'Moons', query: 'SELECT * FROM moons' })
    await change('drop table moons')
    const failed = await refreshed(app, id)
    expect(failed).toMatchObject({ status: 'error', chunks: 1 })
    expect(failed.error).toMatch(/^The query could not be run: .*moons/)
    expect(await passages(app, id, 'Callisto')).toEqual(['name: Callisto'])
    await change('create table moons (name text)')
    await change("insert into moons values ('Ganymede')")
    const mended = await refreshed(app, id)
    expect(mended).not.toHaveProperty('error')
    expect(mended.status).toBe('ready')
    expect(await passages(app, id, 'Ganymede')).toEqual(['name: Ganymede'])
  })

  it('takes values of every kind, and leaves out nulls and bytes', async () => {
    const isSqlite = app.service.infrastructure.isExclusive
    const bytes = isSqlite ? "x'00ff'" : "'\\x00ff'::bytea"
    const query = `SELECT 'two\n\n \nlines' AS note, 9007199254740993 AS large, 1.5 AS part, NULL AS missing, ${bytes} AS raw`
    const { id } = await fetchedSource(app, { type: 'database', name: 'Values', query })
    expect(await passages(app, id, 'lines')).toEqual(['note: two\nlines\nlarge: 9007199254740993\npart: 1.5'])
  })
})

it('sources that are refreshed beyond those that are worked on wait for their turn', async () => {
  const ids: string[] = []
  for (const name of ['One', 'Two', 'Three', 'Four'])
    ids.push((await fetchedSource(app, { ...fruits, name })).id)
  const release = Promise.withResolvers<void>()
  const { handlers } = app.service.infrastructure
  const handler = handlers.get('source.fetch')
  if (handler === undefined) throw new Error('nothing fetches')
  handlers.set('source.fetch', {
    ...handler,
    async run(context) {
      await release.promise
      await handler.run(context)
    },
  })
  const answers = []
  for (const id of ids)
    answers.push((await app.call<{ status: string }>('POST', `${sources}/${id}/refresh`)).body.status)
  expect(answers).toEqual(['updating', 'updating', 'pending', 'pending'])
  const [, , , last = ''] = ids
  expect((await app.call('GET', `${sources}/${last}`)).body).toMatchObject({ status: 'pending' })
  expect((await app.call('POST', `${sources}/${last}/refresh`)).status).toBe(409)
  release.resolve()
  for (const id of ids) expect(await settled(app, id)).toMatchObject({ status: 'ready' })
  handlers.set('source.fetch', handler)
})

describe('limits of a query', () => {
  it('are 10,000 rows', async () => {
    const of = (count: number) => `${numbers(count)} SELECT i FROM n`
    const most = await fetchedSource(app, { type: 'database', name: 'Most', query: of(10_000) })
    expect(most).toMatchObject({ status: 'ready' })
    const more = await fetchedSource(app, { type: 'database', name: 'More', query: of(10_001) })
    expect(more).toMatchObject({ status: 'error', error: expect.stringContaining('more than 10,000 rows') })
    expect(more.chunks).toBeUndefined()
  })

  it('are 8 MiB', async () => {
    const query = `${numbers(1000)} SELECT i, '${'x'.repeat(90_000)}' FROM n`
    const source = await fetchedSource(app, { type: 'database', name: 'Large', query })
    expect(source).toMatchObject({ status: 'error', error: expect.stringContaining('8 MiB') })
  })

  it('are 5 s, while others are served', async () => {
    const query =
      'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS total FROM n'
    const answered = fetchedSource(app, { type: 'database', name: 'Endless', query })
    expect((await execute(app, 'SELECT 1')).status).toBe(200)
    expect(await answered).toMatchObject({
      status: 'error',
      error:
        'The query could not be run: The statement was stopped: it took longer than 5 s. Ask for less at once.',
    })
  })
})

describe('what is no query of a source', () => {
  it.each([
    "INSERT INTO fruits (id, name) VALUES (99, 'fig')",
    'UPDATE fruits SET price = 0',
    'DELETE FROM fruits',
    'DROP TABLE fruits',
    'PRAGMA table_info(fruits)',
    'EXPLAIN SELECT 1',
    'VALUES (1)',
    'SELECT 1; SELECT 2',
    'SELECT 1; DELETE FROM fruits',
    'WITH d AS (SELECT 1 AS id) DELETE FROM fruits WHERE id IN (SELECT id FROM d)',
    'WITH d AS (DELETE FROM fruits RETURNING *) SELECT * FROM d',
    'SELECT * INTO copies FROM fruits',
    'SELECT * FROM outbox',
    'SELECT * FROM file_parts',
    'SELECT ? FROM fruits',
    "SELECT load_extension('x')",
    "SELECT pg_read_file('secret')",
    "ATTACH 'x.db' AS x",
    'SELECT FROM WHERE',
    'SELECT * FROM nowhere',
    ' ',
  ])(`%s ${errorRow('sources', 400)}`, async query => {
    const before = await execute(app, 'SELECT id, name, price FROM fruits ORDER BY id')
    const { status, body } = await createSource(app, { type: 'database', name: 'Refused', query })
    expect({ status, code: body.error.code, field: body.error.details.field }).toEqual({
      status: 400,
      code: 'VALIDATION_ERROR',
      field: 'query',
    })
    const after = await execute(app, 'SELECT id, name, price FROM fruits ORDER BY id')
    expect(after.body.rows).toEqual(before.body.rows)
  })

  it.each(['SELECT * FROM outbox', 'SELECT * FROM nowhere', 'SELECT 1; SELECT 2'])(
    'is told as SQL tells it: %s',
    async query => {
      const refused = await createSource(app, { type: 'database', name: 'Refused', query })
      const { body } = await execute(app, query)
      expect(refused.body.error.details.issue).toBe(body.error.details.issue ?? body.error.message)
    },
  )

  it.each([
    ['DROP TABLE fruits', 'must be a SELECT statement; it begins with DROP'],
    ['DELETE FROM fruits', 'must be a SELECT statement; it begins with DELETE'],
    [
      'SELECT * FROM fruits WHERE id = ?',
      'has a ?, for which no value can be given here; write the value itself',
    ],
  ])('says of what SQL may take elsewhere that a source may not: %s', async (query, issue) => {
    const { body } = await createSource(app, { type: 'database', name: 'Refused', query })
    expect(body.error).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'query', issue } })
  })

  it.each([
    [{ type: 'database', query: 'SELECT 1' }, 'name'],
    [{ type: 'database', name: ' \t', query: 'SELECT 1' }, 'name'],
    [{ type: 'database', name: 'x'.repeat(301), query: 'SELECT 1' }, 'name'],
    [{ type: 'database', name: 'a' }, 'query'],
    [{ type: 'database', name: 'a', query: '' }, 'query'],
    [{ type: 'database', name: 'a', query: 7 }, 'query'],
    [{ type: 'database', name: 'a', query: 'x'.repeat(100_001) }, 'query'],
    [{ type: 'database', name: 'a', query: 'SELECT 1', url: 'https://example.com' }, 'url'],
    [{ type: 'database', name: 'a', query: 'SELECT 1', chunk_size: 99 }, 'chunk_size'],
    [{ type: 'database', name: 'a', query: 'SELECT 1', chunk_size: '200' }, 'chunk_size'],
    [{ type: 'database', name: 'a', query: 'SELECT 1', method: 'magic' }, 'method'],
    [{ type: 'spreadsheet', name: 'a' }, 'type'],
    [{ type: 'file', name: 'a' }, 'type'],
    [{ type: 'crawl', name: 'a', url: 'https://example.com' }, 'type'],
    [{ name: 'a', query: 'SELECT 1' }, 'type'],
    [{ type: ['database'], name: 'a', query: 'SELECT 1' }, 'type'],
    [{}, 'type'],
    [[], 'body'],
  ])('%.80j', async (body, field) => {
    const answer = await createSource(app, body)
    expect([answer.status, answer.body.error?.code, answer.body.error?.details.field]).toEqual([
      400,
      'VALIDATION_ERROR',
      field,
    ])
  })

  it('says where files and websites belong', async () => {
    const file = await createSource(app, { type: 'file', name: 'a' })
    expect(file.body.error.message).toContain('multipart/form-data')
    const site = await createSource(app, { type: 'crawl', name: 'a' })
    expect(site.body.error.message).toContain('sources/crawl')
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', undefined])(
    `arrives as %s ${errorRow('sources', 415)}`,
    async type => {
      const { status, body } = await app.call('POST', sources, {
        ...(type !== undefined && { payload: 'type=database', headers: { 'content-type': type } }),
      })
      expect(status).toBe(415)
      expect(body).toMatchObject({ error: { message: expect.stringContaining('application/json') } })
    },
  )
})

it('is created by those alone who may use SQL', async () => {
  const guarded = await testApp({ environment: { PUBLIC_ACCESS: 'chat' } })
  expect((await createSource(guarded, fruits)).status).toBe(403)
})

it('is gone with all its passages once it is deleted', async () => {
  const { id } = await fetchedSource(app, fruits)
  expect((await app.call('DELETE', `${sources}/${id}`)).status).toBe(200)
  await app.service.infrastructure.runner.idle()
  const { rows } = await change(`select * from chunks where source_id = '${id}'`)
  expect(rows).toEqual([])
})
