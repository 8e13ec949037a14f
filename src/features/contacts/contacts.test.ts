import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { makeAgent } from '#test/support/agents.ts'
import { type Answer, buildApp, type TestApp } from '#test/support/build-app.ts'
import { formOf } from '#test/support/upload.ts'

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'owner@example.com' } })
})

afterAll(() => app.close())

/** An agent that knows nobody. */
async function stage() {
  const path = `/api/agents/${await makeAgent(app)}`
  const contacts = `${path}/contacts`
  return {
    path,
    call: (method: 'GET' | 'POST' | 'PUT' | 'DELETE', below: string, body?: unknown): Promise<Answer> =>
      app.call(method, `${contacts}${below}`, body === undefined ? {} : { body }),
    async add(fields: Record<string, unknown>): Promise<string> {
      const { status, body } = await app.call<{ id: string }>('POST', contacts, { body: fields })
      expect({ status, body }).toMatchObject({ status: 201 })
      return body.id
    },
    async importFile(content: string | Uint8Array, fields: Record<string, string> = {}): Promise<Answer> {
      const file = new File([typeof content === 'string' ? content : new Uint8Array(content)], 'people.csv')
      const form = await formOf([['file', file], ...Object.entries(fields)])
      return app.call('POST', `${contacts}/import`, form)
    },
    async all(): Promise<Record<string, unknown>[]> {
      const { body } = await app.call('GET', `${contacts}?limit=1000&sort=name`)
      return (body as { contacts: Record<string, unknown>[] }).contacts
    },
    async exported<Body = string>(format = 'csv'): Promise<Body> {
      const { status, body } = await app.call<Body>('GET', `${contacts}/export?format=${format}`)
      expect(status).toBe(200)
      return body
    },
    sql: (query: string): Promise<Answer> => app.call('POST', `${path}/sql/execute`, { body: { query } }),
  }
}

const ada = {
  name: 'Ada Lovelace',
  email: 'Ada@Example.com',
  phone: '+44 (20) 7946-0000',
  messenger_handle: '@AdaL',
  messenger_number: '+44 7700 900123',
  social_handle: 'ada.l',
  external_id: 'crm-1',
  notes: 'Likes engines.\nWrites programs.',
  tags: ['vip', 'new, hot'],
  metadata: { plan: 'gold', visits: 3 },
}

describe('a contact', () => {
  it(`is created, read, changed and removed ${row('POST /api/agents/{id}/contacts')} ${row('GET /api/agents/{id}/contacts/{contactId}')} ${row('PUT /api/agents/{id}/contacts/{contactId}')} ${row('DELETE /api/agents/{id}/contacts/{contactId}')} ${errorRow('contacts', 404)}`, async () => {
    const { call, add } = await stage()
    const id = await add(ada)
    expect((await call('GET', `/${id}`)).body).toEqual({
      ...ada,
      id,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const changed = await call('PUT', `/${id}`, { phone: null, notes: '', tags: ['old'], name: 'Ada' })
    expect(changed.body).toMatchObject({
      name: 'Ada',
      phone: null,
      notes: null,
      tags: ['old'],
      email: ada.email,
    })
    expect((await call('DELETE', `/${id}`)).body).toEqual({ success: true })
    for (const method of ['GET', 'PUT', 'DELETE'] as const)
      expect((await call(method, `/${id}`, method === 'PUT' ? { name: 'x' } : undefined)).status).toBe(404)
  })

  it(`is refused with the field that is wrong ${errorRow('contacts', 400)}`, async () => {
    const { call } = await stage()
    for (const [body, field] of [
      [{}, 'name'],
      [{ name: ' ' }, 'name'],
      [{ name: 'x', email: 'nobody' }, 'email'],
      [{ name: 'x', tags: 'vip' }, 'tags'],
      [{ name: 'x', phone: 7 }, 'phone'],
      [{ name: 'x', metadata: [] }, 'metadata'],
    ] as const)
      expect(await call('POST', '', body)).toMatchObject({
        status: 400,
        body: { error: { details: { field } } },
      })
  })

  it.each([
    ['email', 'ADA@example.COM'],
    ['phone', '0044 20 79460000'],
    ['messenger_handle', 'adal'],
    ['messenger_number', '447700900123'],
    ['external_id', 'crm-1'],
  ])(`is known by its %s, however it is written ${errorRow('contacts', 409)}`, async (field, spelling) => {
    const { call, add } = await stage()
    const id = await add(ada)
    expect(await call('POST', '', { name: 'Another', [field]: spelling })).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT', details: { field, contact_id: id } } },
    })
    const other = await add({ name: 'Another' })
    expect((await call('PUT', `/${other}`, { [field]: spelling })).status).toBe(409)
    expect((await call('PUT', `/${id}`, { [field]: spelling })).status).toBe(200)
    expect((await call('GET', `/resolve?${new URLSearchParams({ [field]: spelling })}`)).body).toEqual({
      contact: { id, name: ada.name, email: expect.anything() },
      matched_by: field,
    })
  })

  it(`is resolved by what is not unique, or not at all ${row('GET /api/agents/{id}/contacts/resolve')}`, async () => {
    const { call, add } = await stage()
    const id = await add(ada)
    await add({ name: 'Impostor', social_handle: 'ADA.L' })
    expect((await call('GET', '/resolve?social_handle=Ada.L')).body).toMatchObject({ contact: { id } })
    expect((await call('GET', '/resolve?email=nobody@example.com')).status).toBe(404)
    const eve = await add({ name: 'Eve', phone: '+49 30 5550101 ext. 12' })
    const found = { body: { contact: { id: eve } } }
    expect(await call('GET', '/resolve?phone=%2B49(0)30%205550101')).toMatchObject(found)
    expect((await call('GET', '/resolve')).status).toBe(400)
  })

  it('is created once by 50 simultaneous calls in different spellings', async () => {
    const { call } = await stage()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, turn) => {
        const email = turn % 2 === 0 ? 'ada@example.com' : 'ADA@Example.Com'
        return call('POST', '', {
          name: `Ada ${turn}`,
          email,
          phone: turn % 3 === 0 ? '+44 20 1' : '0044-201',
        })
      }),
    )
    const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other)
    expect(statuses).toEqual([201, ...Array.from({ length: 49 }, () => 409)])
  })

  it('has a number of the country that the settings name', async () => {
    const { path, call, add } = await stage()
    await app.call('PUT', `${path}/settings`, { body: { phone_country: 'DE' } })
    const id = await add({ name: 'Karl', phone: '030 901820' })
    expect((await call('GET', `/${id}`)).body).toMatchObject({ phone: '+4930901820' })
    expect((await call('POST', '', { name: 'Karl', phone: '+49 30 901820' })).status).toBe(409)
    expect((await call('GET', '/resolve?phone=030%20901820')).body).toMatchObject({ contact: { id } })
    const other = await add({ name: 'Wa', messenger_number: '491701234567' })
    expect((await call('GET', `/${other}`)).body).toMatchObject({
      messenger_number: '491701234567',
    })
  })

  it('has a number of its country however it is written', async () => {
    const { path, call, add } = await stage()
    await app.call('PUT', `${path}/settings`, { body: { phone_country: 'DE' } })
    const id = await add({ name: 'Karl', phone: '49 30 901820' })
    expect((await call('GET', `/${id}`)).body).toMatchObject({ phone: '+4930901820' })
    expect((await call('POST', '', { name: 'Karl', phone: '030/901820' })).status).toBe(409)
  })

  it('that several requests create at once, in different spellings, is there once', async () => {
    const { call, all } = await stage()
    const spellings = ['+44 20 7946 0000', '0044 (20) 79460000', '442079460000', '44-20-7946.0000']
    const created = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        call('POST', '', { name: `Ada ${n}`, phone: spellings[n % spellings.length] }),
      ),
    )
    const statuses = created.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([201, ...Array.from({ length: 49 }, () => 409)])
    expect(await all()).toHaveLength(1)
  })

  it('takes over another one, and keeps what that one said differently', async () => {
    const { call, add, all } = await stage()
    const into = await add({
      name: 'Ada',
      email: 'ada@example.com',
      tags: ['vip'],
      metadata: { plan: 'gold' },
    })
    const from = await add({
      name: 'Ada L.',
      phone: '+44 1',
      tags: ['new'],
      metadata: { plan: 'free', age: 36 },
    })
    const merged = await call('POST', `/${into}/merge`, { from })
    expect(merged.body).toMatchObject({ id: into, name: 'Ada', phone: '+44 1', tags: ['vip', 'new'] })
    expect(merged.body).toMatchObject({
      metadata: { plan: 'gold', age: 36, merged: [{ id: from, name: 'Ada L.', 'metadata.plan': 'free' }] },
    })
    expect(await all()).toHaveLength(1)
    const last = await add({ name: 'A.', email: 'a.l@example.com' })
    expect((await call('POST', `/${into}/merge`, { from: last })).status).toBe(200)
    const found = await call('GET', '/resolve?email=A.L@example.com')
    expect(found.body).toMatchObject({ contact: { id: into } })
    expect((await call('POST', `/${into}/merge`, { from })).status).toBe(404)
    expect((await call('POST', `/${into}/merge`, { from: into })).status).toBe(400)
  })

  it('of another agent is not found', async () => {
    const [one, other] = [await stage(), await stage()]
    const id = await one.add(ada)
    expect((await other.call('GET', `/${id}`)).status).toBe(404)
    expect((await other.call('POST', `/${await other.add({ name: 'x' })}/merge`, { from: id })).status).toBe(
      404,
    )
    await other.add(ada)
  })
})

describe('the list', () => {
  it(`is searched, filtered by tags, sorted and paged ${row('GET /api/agents/{id}/contacts')}`, async () => {
    const { path, call, add } = await stage()
    await add(ada)
    await add({ name: 'Björn', email: 'bjorn@example.com', tags: ['vip'] })
    await add({ name: 'Chen', phone: '+86 10 5555', tags: ['"quoted"', '100%', '1000'] })
    const names = async (query: string) => {
      const { status, body } = await call('GET', `?sort=name&${query}`)
      expect(status).toBe(200)
      return (body as { contacts: { name: string }[] }).contacts.map(({ name }) => name)
    }
    expect(await names('search=BJÖRN')).toEqual(['Björn'])
    expect(await names('search=5555')).toEqual(['Chen'])
    expect(await names('tag=vip')).toEqual(['Ada Lovelace', 'Björn'])
    expect(await names('tag=vip&tag=%22quoted%22')).toEqual(['Ada Lovelace', 'Björn', 'Chen'])
    expect(await names('tag=100%25')).toEqual(['Chen'])
    expect(await names('tag=vi')).toEqual([])
    expect(await names('tag=VIP')).toEqual([])
    expect(await names('limit=1&offset=1')).toEqual(['Björn'])
    expect((await call('GET', '?sort=nothing')).status).toBe(400)
    expect((await app.call('GET', path)).body).toMatchObject({ stats: { contacts: 3 } })
  })
})

describe('SQL', () => {
  it('may write contacts, whose identifiers stay unique', async () => {
    const { add, all, call, sql } = await stage()
    const id = await add({ name: 'Ada', email: 'ada@example.com' })
    expect((await sql(`insert into contacts (name, phone) values ('Bob', '+1 (555) 010')`)).status).toBe(200)
    expect((await sql(`insert into contacts (name, email) values ('Eve', 'ADA@EXAMPLE.COM')`)).status).toBe(
      500,
    )
    expect((await sql(`update contacts set phone = '1555.010' where name = 'Ada'`)).status).toBe(500)
    expect((await sql(`update contacts set tags = 'vip', metadata = 'x' where name = 'Bob'`)).status).toBe(
      200,
    )
    expect(await call('GET', '/resolve?phone=001-555-010')).toMatchObject({ body: { matched_by: 'phone' } })
    expect(await all()).toMatchObject([{ id }, { name: 'Bob', tags: ['vip'], metadata: { value: 'x' } }])
    expect((await sql(`delete from contacts where name = 'Bob'`)).status).toBe(200)
    expect(await all()).toHaveLength(1)
  })
})

describe('an import', () => {
  it(`counts every row, and adds to what is known ${row('POST /api/agents/{id}/contacts/import')}`, async () => {
    const { importFile, add, all } = await stage()
    await add({
      name: 'Ada',
      email: 'ada@example.com',
      notes: 'kept',
      tags: ['vip'],
      metadata: { plan: 'gold' },
    })
    await add({ name: 'Bob', phone: '+1 555 010' })
    const file = [
      'name,E-Mail Address,Phone,Telegram,Tags,Birthday,notes',
      'Ada L.,ADA@example.com,,,"new; hot",10 Dec,',
      '"Carl\nGauss",carl@example.com,,@carl,,,',
      ',dora@example.com,,,,,',
      ',,,,x,,',
      'Both,ada@example.com,+1 555-010,,,,',
      'Twice,CARL@example.com,,,,,',
      'Wrong,nobody,,,,,',
      'Two,ada2@example.com,1555010,@carl,,,',
    ].join('\r\n')
    const dry = await importFile(file, { dry_run: 'true' })
    expect(await all()).toHaveLength(2)
    const { status, body } = await importFile(file)
    expect(status).toBe(200)
    expect(body).toEqual({
      imported: 2,
      updated: 1,
      skipped: 5,
      errors_total: 5,
      errors: [
        { line: 6, field: 'name', issue: expect.any(String) },
        { line: 7, field: 'email', issue: expect.stringContaining('earlier row') },
        { line: 8, field: 'email', issue: expect.stringContaining('earlier row') },
        { line: 9, field: 'email', issue: expect.stringContaining('An address') },
        { line: 10, field: 'messenger_handle', issue: expect.stringContaining('earlier row') },
      ],
    })
    expect(dry.body).toEqual(body)
    expect(await all()).toMatchObject([
      {
        name: 'Ada L.',
        notes: 'kept',
        tags: ['vip', 'new', 'hot'],
        metadata: { plan: 'gold', Birthday: '10 Dec' },
      },
      { name: 'Bob' },
      { name: 'Carl\nGauss', messenger_handle: '@carl' },
      { name: 'dora@example.com' },
    ])
  })

  it('updates a contact by rows that name it differently, and renames nobody', async () => {
    const { importFile, add, all, sql } = await stage()
    await add({ name: 'Ada', email: 'ada@example.com', phone: '+1 555 010' })
    await sql(`insert into contacts (name, phone) values ('None', '-'), ('None, too', '()')`)
    const file = 'email,phone,tags,notes\nADA@example.com,,vip,first\n,1555010,new,\n'
    expect((await importFile(file)).body).toMatchObject({ imported: 0, updated: 2, skipped: 0 })
    expect((await all())[0]).toMatchObject({ name: 'Ada', tags: ['vip', 'new'], notes: 'first' })
  })

  it('adds nobody again whom nothing identifies', async () => {
    const { importFile, exported, add } = await stage()
    const lines = ['Ada,vip,', 'Ada,,likes engines', 'Ada,vip,', 'Bob,,']
    const file = ['name,tags,notes', ...lines].join('\n')
    expect((await importFile(file, { dry_run: 'true' })).body).toMatchObject({ imported: 4, updated: 0 })
    expect((await importFile(file)).body).toMatchObject({ imported: 4, updated: 0 })
    const before = await exported()
    expect((await importFile(file)).body).toMatchObject({ imported: 0, updated: 4 })
    expect(await exported()).toBe(before)
    expect((await importFile(`${file}\nAda,vip,\n`)).body).toMatchObject({ imported: 1, updated: 4 })
    await add({ name: 'Carl', email: 'carl@example.com' })
    expect((await importFile('name\nCarl')).body).toMatchObject({ imported: 1, updated: 0 })
  })

  it('keeps columns of any name, and needs no header in the first line', async () => {
    const { importFile, all } = await stage()
    const file = '\n  \nname;__proto__;constructor\nAda;one;two\n'
    expect((await importFile(file)).body).toMatchObject({ imported: 1, skipped: 0 })
    const [contact] = await all()
    expect(JSON.stringify(contact?.metadata)).toBe('{"__proto__":"one","constructor":"two"}')
  })

  it('skips a row that names two contacts', async () => {
    const { importFile, add } = await stage()
    await add({ name: 'Ada', email: 'ada@example.com' })
    await add({ name: 'Bob', phone: '+1 555 010' })
    expect((await importFile('name,email,phone\nBoth,ada@example.com,1555010')).body).toMatchObject({
      imported: 0,
      updated: 0,
      skipped: 1,
      errors: [{ line: 2, issue: expect.stringContaining('merge') }],
    })
  })

  it.each([
    ['semicolons and Windows-1252', Buffer.from('Name;E-Mail\r\nJos\xe9;jose@example.com\r\n', 'latin1')],
    ['tabs and UTF-16', Buffer.from('\ufeffname\temail\nJosé\tjose@example.com', 'utf16le')],
    ['a byte order mark and quotes', Buffer.from('\ufeff"name","email"\n"José","jose@example.com"\n\n')],
  ])('reads %s', async (_kind, content) => {
    const { importFile, all } = await stage()
    expect((await importFile(content)).body).toMatchObject({ imported: 1, skipped: 0 })
    expect(await all()).toMatchObject([{ name: 'José', email: 'jose@example.com' }])
  })

  it('takes the names of columns for a file without a header', async () => {
    const { importFile, all } = await stage()
    expect(await importFile('John Doe,john@example.com,7')).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('John Doe') } },
    })
    const columns = 'name,email,shoe size'
    expect((await importFile('John Doe,john@example.com,7,x', { columns })).body).toMatchObject({
      imported: 1,
    })
    expect(await all()).toMatchObject([{ name: 'John Doe', metadata: { 'shoe size': '7', 'Column 4': 'x' } }])
  })

  it.each([
    ['more columns than are read', `name${',x'.repeat(450_000)}`, 'columns in line 1'],
    ['a row of too many columns', `name\nAda\nBob${',x'.repeat(500)}`, '501 columns in line 3'],
    [
      'too long a row',
      `name,notes\nAda,"${'x\n'.repeat(600_000)}"`,
      '1 MiB in the row that begins in line 2',
    ],
    [
      'too much for its size',
      `name,${Array.from({ length: 199 }, (_, n) => `${n}${'x'.repeat(5_000)}`)}\n${`a${',x'.repeat(199)}\n`.repeat(80)}`,
      'long column names',
    ],
  ])('refuses %s, and stores nothing of the file', async (_kind, file, issue) => {
    const { importFile, all } = await stage()
    expect(await importFile(file)).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR', message: expect.stringContaining(issue) } },
    })
    expect(await all()).toEqual([])
  })

  it('keeps a cell of metadata that is nested too deeply as text', async () => {
    const { importFile, all, exported } = await stage()
    const nested = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const file = `name;metadata\nAda;"${nested.replaceAll('"', '""')}"`
    expect((await importFile(file)).body).toMatchObject({ imported: 1 })
    expect(await all()).toMatchObject([{ metadata: { metadata: nested } }])
    expect(await exported()).toContain('[[[')
  })

  it('reads each contact of a name once, however many rows share it', async () => {
    const { path, importFile } = await stage()
    const rows = Array.from({ length: 2_000 }, (_, n) => `Ada,${n}`).join('\n')
    const { agentDatabases } = app.service.infrastructure
    const reads = await agentDatabases.use(path.split('/')[3] ?? '', async ({ db }) => {
      const execute = vi.spyOn(db.getExecutor(), 'executeQuery')
      expect((await importFile(`name,notes\n${rows}`)).body).toMatchObject({ imported: 2_000 })
      expect((await importFile(`name,notes\n${rows}`)).body).toMatchObject({ imported: 0, updated: 2_000 })
      return execute.mock.calls.filter(([{ sql }]) => sql.includes('from "contacts"')).length
    })
    expect(reads).toBeGreaterThan(0)
    expect(reads).toBeLessThan(100)
  })

  it('ends when its client leaves', async () => {
    const { path, importFile, call } = await stage()
    const file = `name\n${Array.from({ length: 20_000 }, (_, n) => `Ada ${n}`).join('\n')}`
    const body = new FormData()
    body.set('file', new File([file], 'people.csv'))
    const client = new AbortController()
    const url = `${await app.listen()}${path}/contacts/import`
    const left = fetch(url, { method: 'POST', body, signal: client.signal }).catch(error => error.name)
    const count = async () => ((await call('GET', '?limit=1')).body as { meta: { total: number } }).meta.total
    await expect.poll(count, { interval: 5 }).toBeGreaterThan(0)
    client.abort()
    expect(await left).toBe('AbortError')
    // Another import begins when that one has ended.
    expect((await importFile('name\nBob')).body).toMatchObject({ imported: 1 })
    expect(await count()).toBeLessThan(20_000)
  })

  it('refuses what is no such form', async () => {
    const { importFile, call } = await stage()
    expect((await importFile('')).status).toBe(400)
    expect((await importFile('name\nx', { dry_run: 'perhaps' })).status).toBe(400)
    expect((await importFile('nothing,known\n1,2', { columns: 'a,b' })).status).toBe(400)
    expect((await call('POST', '/import', { file: 'name\nx' })).status).toBe(415)
  })
})

describe('an export', () => {
  const formula = '=HYPERLINK("http://example.com","x")'
  const people = [
    ada,
    {
      name: formula,
      notes: "'=quoted",
      tags: ['-1', '[x', '"q"'],
      metadata: { '=k': '@v', nested: { a: [1] } },
    },
    { name: 'Same', notes: 'b' },
    { name: 'Same', notes: 'a\tb, "c"; d' },
    { name: 'Same', messenger_handle: '@same' },
  ]

  it(`is imported without loss, and gives the same file again ${row('GET /api/agents/{id}/contacts/export')}`, async () => {
    const [one, other] = [await stage(), await stage()]
    for (const person of people) await one.add(person)
    const csv = await one.exported()
    expect(csv).toContain(`"'=HYPERLINK(""http`)
    expect(csv).not.toMatch(/(?:^|,)"?[=@-]/m)
    expect((await other.importFile(csv)).body).toMatchObject({ imported: people.length, skipped: 0 })
    expect(await other.exported()).toBe(csv)
    const withoutIds = async ({ exported }: typeof one) =>
      (await exported<object[]>('json')).map(contact => ({
        ...contact,
        id: '',
        created_at: '',
        updated_at: '',
      }))
    expect(await withoutIds(other)).toEqual(await withoutIds(one))
    expect(await withoutIds(one)).toHaveLength(people.length)
  })

  it('of more namesakes than are read at a time is the same, whatever their ids are', async () => {
    const [one, other] = [await stage(), await stage()]
    const rows = Array.from({ length: 450 }, (_, n) => `Ada,${(n * 7919) % 450}`)
    expect((await one.importFile(['name,notes', ...rows].join('\n'))).body).toMatchObject({ imported: 450 })
    const csv = await one.exported()
    expect(new Set(csv.split('\r\n')).size).toBe(452)
    expect((await other.importFile(csv)).body).toMatchObject({ imported: 450 })
    expect(await other.exported()).toBe(csv)
  })

  it('of nobody is a header, or an empty array', async () => {
    const { exported, call } = await stage()
    expect((await exported()).trim().split('\n')).toHaveLength(1)
    expect(await exported<object[]>('json')).toEqual([])
    expect((await call('GET', '/export?format=xml')).status).toBe(400)
  })
})

const fixtures = process.env.REAL_FIXTURES ?? ''

describe.skipIf(fixtures === '')('real address books (needs REAL_FIXTURES)', () => {
  const read = (name: string) => readFile(join(fixtures, 'contacts', name))

  it('are taken in row by row', async () => {
    const expected = JSON.parse(String(await read('expected.json'))) as Record<string, { rows: number }>
    for (const [name, { rows }] of Object.entries(expected)) {
      const { importFile } = await stage()
      const fields: Record<string, string> = name.includes('no-header')
        ? { columns: 'name,first name,last name,email' }
        : {}
      const { status, body } = await importFile(await read(name), fields)
      expect({ name, status }).toEqual({ name, status: 200 })
      const { imported, updated, skipped, errors } = body as Record<string, number> & { errors: unknown[] }
      expect({ name, counted: Number(imported) + Number(updated) + Number(skipped) }).toEqual({
        name,
        counted: rows,
      })
      // Two persons of this file share a phone number.
      expect({ name, errors }).toMatchObject({ name, errors: { length: name.startsWith('outlook') ? 1 : 0 } })
    }
  })

  it('update the same contacts when they come again', async () => {
    const { importFile, exported } = await stage()
    const content = await read('contacts-1000.csv')
    expect((await importFile(content)).body).toMatchObject({ imported: 1000, updated: 0, skipped: 0 })
    const first = await exported()
    expect((await importFile(content)).body).toMatchObject({ imported: 0, updated: 1000, skipped: 0 })
    expect(await exported()).toBe(first)
  })
})
