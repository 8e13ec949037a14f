import { CompiledQuery, Kysely, sql } from 'kysely'
import { Type } from 'typebox'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createSqliteDialect } from '#storage/sqlite/connections/dialect.ts'
import { openDatabase } from '#storage/sqlite/connections/open.ts'
import { limitRow } from '#test/spec/row.ts'
import { type BareServer, bareServer, plainRoute } from '#test/support/bare-server.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { integerOrNull, type RowOf, text, textOrNull } from '../../columns.ts'
import { listOf } from './list-of.ts'
import { type ListMeta, listMetaSchema, listParameters, listRows } from './list-query.ts'

const columns = { id: text, title: text, note: textOrNull, pages: integerOrNull, created_at: text }
type Book = RowOf<typeof columns>

const bookList = listOf(columns, {
  sortable: ['id', 'title', 'pages', 'created_at'],
  searchable: ['title', 'note'],
})

interface BookPage {
  books: Book[]
  meta: ListMeta
}

let db: Kysely<{ books: Book }>
let server: BareServer
let queries: CompiledQuery[]

beforeEach(async () => {
  const database = openDatabase(`${temporaryDirectory()}/books.db`, { synchronous: 'normal' })
  queries = []
  const opened = new Kysely<{ books: Book }>({
    dialect: createSqliteDialect({ database }),
    log({ query }) {
      queries.push(query)
    },
  })
  db = opened
  onTestFinished(() => opened.destroy())
  database.exec(
    'create table books (id text primary key, title text, note text, pages integer, created_at text)',
  )
  server = await bareServer({
    routes: app => {
      app.route({
        method: 'GET',
        url: '/api/books',
        config: plainRoute,
        schema: {
          querystring: Type.Object(listParameters),
          response: {
            200: Type.Object({
              books: Type.Array(
                Type.Object({ id: Type.String(), title: Type.String(), pages: Type.Unknown() }),
              ),
              meta: listMetaSchema,
            }),
          },
        },
        handler: async request => {
          const { rows, meta } = await listRows(db.selectFrom('books').selectAll(), bookList, request.query)
          return { books: rows, meta }
        },
      })
    },
  })
})

let inserted = 0
async function add(...books: Partial<Book>[]): Promise<void> {
  for (const book of books) {
    inserted += 1
    const usual = { id: `book-${inserted}`, title: 'Untitled', note: null, pages: null }
    const created_at = '2026-03-01T12:00:00.000Z'
    await db
      .insertInto('books')
      .values({ ...usual, created_at, ...book })
      .execute()
  }
}

function list(query: Record<string, string | string[]> = {}) {
  return server.call({ url: '/api/books', query })
}

async function page(query: Record<string, string | string[]> = {}): Promise<BookPage> {
  const answer = await list(query)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

async function titles(query: Record<string, string | string[]>): Promise<string[]> {
  return (await page(query)).books.map(({ title }) => title)
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ title: `Book ${n}`, pages: n }))

describe('a page', () => {
  it(`has 50 entries from the first on unless asked otherwise ${limitRow('page-size')}`, async () => {
    await add(...numbered(60))
    const { books, meta } = await page()
    expect(books).toHaveLength(50)
    expect(meta).toEqual({ total: 60, limit: 50, offset: 0, has_more: true })
  })

  it('is cut by limit and offset', async () => {
    await add(...numbered(5))
    expect(await page({ sort: 'pages', limit: '2', offset: '3' })).toMatchObject({
      books: [{ pages: 3 }, { pages: 4 }],
      meta: { total: 5, limit: 2, offset: 3, has_more: false },
    })
    expect((await page({ offset: '99' })).books).toEqual([])
  })

  it.each([
    ['limit', '0'],
    ['limit', '1001'],
    ['limit', '-1'],
    ['limit', 'x'],
    ['limit', '1.5'],
    ['limit', ''],
    ['limit', 'Infinity'],
    ['offset', '-1'],
    ['offset', ''],
    ['offset', ' '],
    ['offset', '1e300'],
    ['offset', 'Infinity'],
    ['search', 'x'.repeat(501)],
  ])('is refused with %s=%s', async (field, value) => {
    const answer = await list({ [field]: value })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: { code: 'VALIDATION_ERROR', details: { field } } })
  })

  it('has at most 1000 entries', async () => {
    await add({ title: 'One' })
    expect((await page({ limit: '1000' })).meta.limit).toBe(1000)
  })
})

describe('search', () => {
  it.each([
    ['100%', ['100% Wool']],
    ['%', ['100% Wool']],
    ['_', ['snake_case']],
    ['\\', ['back\\slash']],
    ["o'b", ["O'Brien"]],
    ['"', ['"Quoted"']],
    ["' or 1=1 --", []],
    ['  ', []],
  ])('takes %j by the letter', async (search, expected) => {
    const all = ['100% Wool', '1000 Wools', 'snake_case', 'snakeXcase', 'back\\slash', "O'Brien", '"Quoted"']
    await add(...all.map(title => ({ title })))
    expect((await titles({ search, sort: 'title' })).toSorted()).toEqual(expected.toSorted())
  })

  it.each(['ÄPFEL', 'äpfel', 'Äpfel'])('finds %s in any letter case, beyond ASCII too', async search => {
    await add({ title: 'Äpfel und Birnen' }, { title: 'ROTE ÄPFEL' }, { title: 'Apfel' })
    expect((await titles({ search })).toSorted()).toEqual(['ROTE ÄPFEL', 'Äpfel und Birnen'].toSorted())
  })

  it.each([
    ['kelvin', ['273 \u212aELVIN', 'Kelvin']],
    ['\u212aelvin', ['273 \u212aELVIN', 'Kelvin']],
    ['i', ['K\u0130', 'Kelvin', '273 \u212aELVIN']],
    ['k\u0130', ['K\u0130']],
    ['größe 273 k', ['GRÖßE 273 K']],
    ['größe', ['GRÖßE 273 K']],
    ['50% ä', ['50% Ä']],
    ['%ä', []],
  ])('finds %s also where letters beyond ASCII become letters of it', async (search, expected) => {
    const all = ['273 \u212aELVIN', 'Kelvin', 'K\u0130', 'GRÖßE 273 K', '50% Ä', '50 Ä']
    await add(...all.map(title => ({ title })))
    expect((await titles({ search })).toSorted()).toEqual(expected.toSorted())
  })

  it('holds just these two for letters that become one of ASCII', () => {
    const letters = Array.from({ length: 0x110000 - 0x80 }, (_, index) => String.fromCodePoint(index + 0x80))
    expect(letters.filter(letter => /\p{ASCII}/u.test(letter.toLowerCase()))).toEqual(['\u0130', '\u212a'])
  })

  it('counts nothing that the page tells by itself', async () => {
    await add({ title: 'Sea' }, { title: 'Seal' })
    const counts = () => queries.filter(({ sql: text }) => text.includes('count(*)')).length
    expect((await page({ search: 'sea', limit: '2' })).meta.total).toBe(2)
    expect((await page({ search: 'sea', limit: '2', offset: '1' })).meta.total).toBe(2)
    expect(counts()).toBe(0)
    expect((await page({ search: 'sea', limit: '1' })).meta.total).toBe(2)
    expect((await page({ search: 'sea', offset: '5' })).meta.total).toBe(2)
    expect(counts()).toBe(2)
  })

  it.each(['привет', 'ПРИВЕТ', 'ΣΊΣΥΦΟΣ', '東京', 'é', '🐵'])('finds %s', async search => {
    await add({ note: 'Привет' }, { note: 'Σίσυφος' }, { note: '東京タワー' }, { note: 'CAFÉ 🐵' })
    expect((await page({ search })).meta.total).toBe(1)
  })

  it('counts what it finds, in every searchable column, and an empty one finds all', async () => {
    await add({ title: 'Sea' }, { note: 'by the sea' }, { title: 'Land' })
    expect((await page({ search: 'sea' })).meta.total).toBe(2)
    expect((await page({ search: '' })).meta.total).toBe(3)
  })
})

describe('sort', () => {
  const books = [
    { title: 'B', pages: 2, created_at: '2026-01-01T00:00:00.000Z' },
    { title: 'A', pages: 2, created_at: '2026-01-02T00:00:00.000Z' },
    { title: 'C', pages: 1, created_at: '2026-01-03T00:00:00.000Z' },
    { title: 'D', pages: null, created_at: '2026-01-04T00:00:00.000Z' },
  ]

  it.each<[query: Record<string, string | string[]>, expected: string]>([
    [{}, 'DCAB'],
    [{ order: 'asc' }, 'BACD'],
    [{ sort: '', order: '' }, 'DCAB'],
    [{ sort: 'title' }, 'ABCD'],
    [{ sort: 'title', order: 'desc' }, 'DCBA'],
    [{ sort: 'pages,title' }, 'DCAB'],
    [{ sort: 'pages,title', order: 'desc,asc' }, 'ABCD'],
    [{ sort: 'pages,title', order: 'asc,desc' }, 'DCBA'],
    [{ sort: ' pages , title ', order: ' desc , desc ' }, 'BACD'],
    [{ sort: ['pages', 'title'], order: ['desc', 'asc'] }, 'ABCD'],
    [{ sort: 'pages,title', order: 'desc' }, 'ABCD'],
  ])('orders by %j as %s', async (query, expected) => {
    await add(...books)
    expect((await titles(query)).join('')).toBe(expected)
  })

  it('is served by an index, where the column can hold no null, and looks at the page alone', async () => {
    await sql`create index books_title on books (title, id)`.execute(db)
    await page({ sort: 'title' })
    const { sql: text, parameters } =
      queries.find(query => query.sql.includes('order by')) ?? CompiledQuery.raw('')
    const plan = await db.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
    )
    const details = plan.rows.map(({ detail }) => detail).join('; ')
    expect(details).toContain('USING INDEX books_title')
    expect(details).not.toContain('TEMP B-TREE')
  })

  it('by the unique column needs no other, also with a cursor', async () => {
    await add({ id: 'b' }, { id: 'c' }, { id: 'a' })
    const idsOf = ({ books }: BookPage) => books.map(({ id }) => id).join('')
    expect(idsOf(await page({ sort: 'id' }))).toBe('abc')
    expect(idsOf(await page({ sort: 'id,title', order: 'desc' }))).toBe('cba')
    const first = await page({ sort: 'id', limit: '2', cursor: '' })
    expect(idsOf(await page({ sort: 'id', limit: '2', cursor: first.meta.next_cursor ?? '' }))).toBe('c')
  })

  it.each([
    ['sort', 'colour', 'must be one of id, title, pages, created_at, not colour'],
    ['sort', 'title;drop table books', 'not title;drop table books'],
    ['sort', 'note', 'not note'],
    ['sort', 'toString', 'not toString'],
    ['sort', '__proto__', 'not __proto__'],
    ['sort', 'title,title', 'must name each field once'],
    ['sort', 'title,'.repeat(2500), 'must name each field once'],
    ['order', 'up', 'must be asc or desc, not up'],
    ['order', 'asc; --', 'must be asc or desc'],
  ])('refuses %s=%.40s', async (field, value, issue) => {
    const answer = await list({ [field]: value })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({
      error: { code: 'VALIDATION_ERROR', details: { field, issue: expect.stringContaining(issue) } },
    })
  })
})

describe('from and to', () => {
  const times = [
    '2026-01-31T23:59:59.999Z',
    '2026-02-01T00:00:00.000Z',
    '2026-02-01T12:30:00.000Z',
    '2026-02-01T23:59:59.999Z',
    '2026-02-02T00:00:00.000Z',
  ]

  it.each<[query: Record<string, string>, expected: number[]]>([
    [{ from: '2026-02-01' }, [1, 2, 3, 4]],
    [{ to: '2026-02-01' }, [0, 1, 2, 3]],
    [{ from: '2026-02-01', to: '2026-02-01' }, [1, 2, 3]],
    [{ from: '2026-02-01T12:30:00Z' }, [2, 3, 4]],
    [{ from: '2026-02-01T12:30' }, [2, 3, 4]],
    [{ from: '2026-02-01T13:30:00+01:00' }, [2, 3, 4]],
    [{ from: '2026-02-01T13:30:00 01:00' }, [2, 3, 4]],
    [{ from: '2026-02-01T13:30 0100' }, [2, 3, 4]],
    [{ from: '2026-02-01 13:30:00,0 01' }, [2, 3, 4]],
    [{ from: '2026-02-01 12:30' }, [2, 3, 4]],
    [{ from: '20260201T073000-05' }, [2, 3, 4]],
    [{ from: '2026-02-01T13:30:00[Europe/Berlin]' }, [2, 3, 4]],
    [{ from: '2026-02-01T12:30:00.0001Z' }, [3, 4]],
    [{ to: '2026-02-01T12:30:00.0001Z' }, [0, 1, 2]],
    [{ to: '2026-02-01T24:00' }, [0, 1, 2, 3, 4]],
    [{ from: '2026-02-01[America/New_York]', to: '2026-02-01[America/New_York]' }, [2, 3, 4]],
    [{ to: '2026-02-01t12:30:00.000z' }, [0, 1, 2]],
    [{ to: '2026-02-01T12:29:59.999Z' }, [0, 1]],
    [{ from: '2026-02-03', to: '2026-02-01' }, []],
  ])('bound the time: %j', async (query, expected) => {
    await add(...times.map((created_at, n) => ({ title: String(n), created_at })))
    expect((await titles({ ...query, order: 'asc' })).map(Number)).toEqual(expected)
  })

  it.each([
    'yesterday',
    '2026',
    '2026-02',
    '2026-02-30',
    '2026-13-01',
    '2026-02-01T25:00:00Z',
    '2026-02-01T12:00:00+99:00',
    '20260201',
    '2026-02-01T12:00:60Z',
    '2026-02-01T12:00+01:00[Europe/London]',
    '1 Feb 2026',
    "2026-02-01' or '1'='1",
    '',
  ])('must be times: %j', async value => {
    for (const field of ['from', 'to']) {
      const answer = await list({ [field]: value })
      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toMatchObject({ error: { details: { field } } })
    }
  })

  it('cannot be given twice', async () => {
    expect((await list({ from: ['2026-01-01', '2026-01-02'] })).statusCode).toBe(400)
  })
})

describe('a cursor', () => {
  async function walk(query: Record<string, string>, between?: (round: number) => Promise<void>) {
    const seen: string[] = []
    let cursor: string | null | undefined = ''
    for (let round = 0; typeof cursor === 'string'; round += 1) {
      expect(round).toBeLessThan(100)
      const { books, meta }: BookPage = await page({ ...query, cursor })
      seen.push(...books.map(({ title }) => title))
      expect(meta.has_more).toBe(meta.next_cursor !== null)
      cursor = meta.next_cursor
      await between?.(round)
    }
    return seen
  }

  it('leads through all pages, each row once', async () => {
    await add(...numbered(25).map(book => ({ ...book, pages: book.pages % 3 })))
    for (const query of [
      {},
      { sort: 'pages' },
      { sort: 'pages,title', order: 'desc,asc' },
      { order: 'asc' },
    ] as Record<string, string>[]) {
      const seen = await walk({ ...query, limit: '4' })
      expect(seen).toEqual(await titles(query))
      expect(new Set(seen).size).toBe(25)
    }
  })

  it('passes over rows without a value', async () => {
    await add(...numbered(6).map(book => (book.pages % 2 === 0 ? { ...book, pages: null } : book)))
    for (const order of ['asc', 'desc'])
      expect((await walk({ sort: 'pages', order, limit: '1' })).toSorted()).toHaveLength(6)
  })

  it('neither repeats nor skips rows while others come and go', async () => {
    await add(...numbered(12).map(book => ({ ...book, pages: 10 + book.pages })))
    const seen = await walk({ sort: 'pages', limit: '3' }, async round => {
      // A row before the place, which an offset would push everything by, and the removal of one that was seen.
      await add({ title: `Early ${round}`, pages: round })
      await db.deleteFrom('books').where('title', '=', `Book ${round}`).execute()
    })
    expect(seen).toEqual(numbered(12).map(({ title }) => title))
  })

  it('counts all rows and gives none where none was asked for, but tells whether entries follow', async () => {
    await add(...numbered(3))
    const first = await page({ cursor: '', limit: '2' })
    expect(first.meta).toEqual({
      total: 3,
      limit: 2,
      offset: 0,
      has_more: true,
      next_cursor: expect.any(String),
    })
    const last = await page({ cursor: first.meta.next_cursor ?? '', limit: '2' })
    expect(last.meta).toEqual({ total: 3, limit: 2, offset: 0, has_more: false, next_cursor: null })
    expect((await page({ limit: '2' })).meta).toEqual({ total: 3, limit: 2, offset: 0, has_more: true })
    const rest = { total: 3, limit: 2, offset: 2, has_more: false }
    expect((await page({ limit: '2', offset: '2' })).meta).toEqual(rest)
  })

  it('belongs to its sort and order, and to a filter that may change', async () => {
    await add(...numbered(5))
    const { next_cursor } = (await page({ sort: 'title', limit: '2', cursor: '' })).meta
    const cursor = next_cursor ?? ''
    expect(await titles({ sort: 'title', limit: '2', cursor })).toEqual(['Book 2', 'Book 3'])
    for (const query of [{}, { sort: 'pages' }, { sort: 'title', order: 'desc' }, { sort: 'title,pages' }]) {
      const answer = await list({ ...query, cursor } as Record<string, string>)
      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toMatchObject({ error: { details: { field: 'cursor' } } })
    }
  })

  const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  it.each([
    'x',
    '%00',
    forged('+title,+'),
    forged({}),
    forged(null),
    forged([]),
    forged(['+title,+']),
    forged(['+title,+', 'a']),
    forged(['+title,+', 'a', 'b', 'c']),
    forged(['+title,+', { $gt: '' }, 'b']),
    forged(['+title,+', null, 'b']),
    forged(['+title,+', ['a'], 'b']),
    forged(['+title,+', 5, 6]),
  ])('that is not ours is refused: %s', async cursor => {
    await add(...numbered(2))
    expect((await list({ sort: 'title', cursor })).statusCode).toBe(400)
  })

  it('that is forged well finds nothing else than the list', async () => {
    await add(...numbered(2))
    const place = forged(['+title,+', "' or 1=1 --", "' or 1=1 --"])
    expect(await titles({ sort: 'title', cursor: place })).toEqual(['Book 0', 'Book 1'])
  })
})
