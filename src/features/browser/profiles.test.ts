import { afterAll, beforeAll, expect, it } from 'vitest'
import { row } from '#test/spec/row.ts'
import { makeAgent } from '#test/support/agents.ts'
import { openSession } from '#test/support/browser-stage.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { type ManualClock, manualClock } from '#test/support/manual-clock.ts'
import { type Site, startSite } from '#test/support/site-server.ts'
import { makeTemporaryDirectory } from '#test/support/temporary-directory.ts'

const environment = { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' }
const path = '/api/agents/default/browser'
const profiles = `${path}/profiles`
const secret = 'c29tZSBsb2dpbg'

let app: TestApp
let clock: ManualClock
let site: Site
const directory = makeTemporaryDirectory()

beforeAll(async () => {
  clock = manualClock()
  app = await buildApp({ environment, clock, dataDirectory: directory.path })
  site = await startSite(({ path: asked, headers }) =>
    asked === '/login'
      ? { headers: { 'set-cookie': `login=${secret}; Max-Age=86400; HttpOnly` }, body: 'In' }
      : `<title>${headers.cookie ?? 'nobody'}</title>`,
  )
})

afterAll(async () => {
  await app.close()
  await site[Symbol.asyncDispose]()
  directory.remove()
})

const stored = `new Promise(done => {
  const opening = indexedDB.open('notes', 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore('notes')
  opening.onsuccess = () => {
    const store = opening.result.transaction('notes', 'readwrite').objectStore('notes')
    const asked = store.get('first')
    asked.onsuccess = () => done([localStorage.getItem('cart'), asked.result ?? null])
  }
})`

/** Who the site takes the session for, and what it has stored there. */
async function stateIn({ session }: Awaited<ReturnType<typeof openSession>>) {
  const page = await session.page()
  await page.goto(site.url)
  return [await page.title(), await page.evaluate(stored)]
}

async function logIn({ session }: Awaited<ReturnType<typeof openSession>>): Promise<void> {
  const page = await session.page()
  await page.goto(`${site.url}/login`)
  await page.evaluate(`${stored}.then(() => new Promise(done => {
    localStorage.setItem('cart', 'tea')
    const opening = indexedDB.open('notes', 1)
    opening.onsuccess = () => {
      const changing = opening.result.transaction('notes', 'readwrite')
      changing.objectStore('notes').put('remember', 'first')
      changing.oncomplete = () => done()
    }
  }))`)
}

const loggedIn = [`login=${secret}`, ['tea', 'remember']]
const nobody = ['nobody', [null, null]]

it('a login made in one session is there in the next with that profile, also after a restart, and nowhere else', async () => {
  const first = await openSession(app, { profile: 'shop' })
  await logIn(first)
  expect((await app.call('DELETE', `${path}?id=${first.id}`)).status).toBe(200)
  expect(await stateIn(await openSession(app, { profile: 'shop' }))).toEqual(loggedIn)
  await app.close()
  app = await buildApp({ environment, clock, dataDirectory: directory.path })
  const again = await openSession(app, { profile: 'shop' })
  expect(await stateIn(again)).toEqual(loggedIn)
  expect(await stateIn(await openSession(app))).toEqual(nobody)
  expect(await stateIn(await openSession(app, { profile: 'other' }))).toEqual(nobody)
  const agentId = await makeAgent(app)
  expect(await stateIn(await openSession(app, { agentId, profile: 'shop' }))).toEqual(nobody)
})

it('is listed without its content, which is sealed', async () => {
  const { body } = await app.call<{ profiles: object[] }>('GET', profiles)
  expect(body).toMatchObject({
    profiles: [{ name: 'other' }, { name: 'shop', note: null }],
    meta: { total: 2 },
  })
  expect(JSON.stringify(body)).not.toContain(secret)
  const { platform, agentDatabases } = app.service.infrastructure
  const rows = [
    await platform.selectFrom('agent_secrets').selectAll().execute(),
    await agentDatabases.use('default', ({ db }) => db.selectFrom('browser_profiles').selectAll().execute()),
  ]
  expect(JSON.stringify(rows)).not.toContain(secret)
  expect(app.logged.join()).not.toContain(secret)
})

it('is forgotten when nobody has it', async () => {
  const { id } = await openSession(app, { profile: 'shop' })
  expect(await app.call('DELETE', `${profiles}/shop`)).toMatchObject({
    status: 409,
    body: { error: { code: 'CONFLICT', message: expect.stringContaining('"shop"') } },
  })
  await app.call('DELETE', `${path}?id=${id}`)
  expect(await app.call('DELETE', `${profiles}/shop`)).toMatchObject({ status: 200, body: { success: true } })
  expect(await app.call('DELETE', `${profiles}/shop`)).toMatchObject({ status: 404 })
  expect(await stateIn(await openSession(app, { profile: 'shop' }))).toEqual(nobody)
})

/** Runs scripts of the page at the site, and answers what each gives. */
async function run(profile: string, ...scripts: string[]): Promise<unknown[]> {
  const opened = await openSession(app, { profile })
  const page = await opened.session.page()
  await page.goto(site.url)
  const values: unknown[] = []
  for (const script of scripts) values.push(await page.evaluate(script))
  await app.call('DELETE', `${path}?id=${opened.id}`)
  return values
}

async function noteOf(profile: string): Promise<string | null | undefined> {
  const { body } = await app.call<{ profiles: { name: string; note: string | null }[] }>('GET', profiles)
  return body.profiles.find(({ name }) => name === profile)?.note
}

it('serves several sessions at once: each writes back what it has changed, the last one wins', async () => {
  const cookies = 'document.cookie.split("; ").toSorted().join()'
  const items = 'JSON.stringify(Object.entries(localStorage).toSorted())'
  const set = (name: string, value: string) =>
    `document.cookie = '${name}=${value}; max-age=${value === '' ? 0 : 9999}'; localStorage[${value === '' ? `'gone'` : `'${name}'`}] = '${value}'`
  await run('shared', set('kept', '0'), set('both', '0'), set('deleted', '0'), `localStorage.removed = '0'`)
  const sessions = await Promise.all([1, 2, 3].map(() => openSession(app, { profile: 'shared' })))
  const [first, second, third] = await Promise.all(
    sessions.map(async ({ session, id }) => {
      const page = await session.page()
      await page.goto(site.url)
      return { page, end: () => app.call('DELETE', `${path}?id=${id}`) }
    }),
  )
  await first?.page.evaluate(`${set('both', '1')}; ${set('of-first', '1')}; delete localStorage.removed`)
  await second?.page.evaluate(`${set('both', '2')}; ${set('of-second', '2')}; ${set('deleted', '')}`)
  await first?.end()
  await second?.end()
  await third?.end()
  const [cookie, stored] = await run('shared', cookies, items)
  expect(cookie).toBe('both=2,kept=0,of-first=1,of-second=2')
  expect(Object.fromEntries(JSON.parse(String(stored)))).toEqual({
    kept: '0',
    both: '2',
    deleted: '0',
    gone: '',
    'of-first': '1',
    'of-second': '2',
  })
})

/** The store `s` of a database; `then` has it as `store`. */
const inDatabase = (name: string, then: string, options = '{}') => `new Promise(async (done, fail) => {
  const opening = indexedDB.open(${JSON.stringify(name)}, 3)
  opening.onupgradeneeded = () => {
    const made = opening.result.createObjectStore('s', ${options})
    made.createIndex('by size', ['a', 'b'])
  }
  opening.onsuccess = async () => {
    const store = () => opening.result.transaction('s', 'readwrite').objectStore('s')
    const settled = request => new Promise((ok, no) => Object.assign(request, { onsuccess: () => ok(request.result), onerror: no }))
    ;(async () => { ${then} })().then(done, fail).finally(() => opening.result.close())
  }
})`

/** Values that come back as they were: each is written by an expression and compared with it in the page. */
const carried: [string, string][] = [
  ['nothing', '[undefined, null]'],
  ['numbers', '[0, -0, NaN, Infinity, -Infinity, 1e300, 12345678901234567890n]'],
  ['booleans and texts', `[false, true, '', 'ü\\ud800', '__proto__']`],
  ['a falsy value', '0'],
  ['dates', '[new Date(0), new Date(8.64e15)]'],
  ['an expression', '/a+\\/b/giu'],
  ['a map', `new Map([[{ a: 1 }, new Set([1, 'x', [2n]])], ['k', undefined]])`],
  [
    'bytes',
    '[new Uint8Array([0, 255]), new Float64Array([-0, 0.1]), new BigInt64Array([-1n]), new ArrayBuffer(3)]',
  ],
  ['many bytes', 'new Uint16Array(20000).fill(65535)'],
  ['a circle', '(() => { const a = { list: [] }; a.list.push(a, new Map([[a, a]])); return a })()'],
  ['one object twice', '(() => { const a = { b: 1 }; return { first: a, second: a } })()'],
  ['deep objects', 'Array.from({ length: 90 }).reduce(inner => ({ inner }), 1)'],
]

/** Values that can't be carried, and what the note calls them. */
const leftOut: [string, string, string][] = [
  ['a blob', 'new Blob(["x"])', 'Blob'],
  ['a file in an object', '({ deep: [new File(["x"], "a.txt")] })', 'File'],
  ['a picture', 'new ImageData(2, 2)', 'ImageData'],
  [
    'a key',
    `await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt'])`,
    'CryptoKey',
  ],
  ['a view', 'new DataView(new ArrayBuffer(2))', 'DataView'],
  ['an error', 'new TypeError("x")', 'Error'],
  ['a wrapped number', 'new Number(1)', 'Number'],
  ['a matrix', 'new DOMMatrix()', 'DOMMatrix'],
  ['no date', 'new Date(NaN)', 'invalid date'],
  ['a list with holes', '[1, , 3]', 'sparse array'],
  ['a list with a name', 'Object.assign([1], { name: 1 })', 'sparse array'],
  ['a prototype', `JSON.parse('{"__proto__": 1}')`, 'object with __proto__'],
  ['views of one buffer', '(() => { const a = new Uint8Array(4); return [a, a.buffer] })()', 'shared buffer'],
  [
    'very deep objects',
    'Array.from({ length: 300 }).reduce(inner => ({ inner }), 1)',
    'deeply nested object',
  ],
]

/** A text that differs where values do, for a comparison in the page. */
const described = `const described = (value, seen = []) => {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : typeof value + String(value)
  if (seen.includes(value)) return 'seen ' + seen.indexOf(value)
  seen.push(value)
  const tag = Object.prototype.toString.call(value)
  const parts = value instanceof Map || value instanceof Set || Array.isArray(value) ? [...value]
    : value instanceof ArrayBuffer ? [...new Uint8Array(value)]
    : /Date|RegExp/.test(tag) ? [String(value), tag === '[object Date]' && value.getTime()] : Object.entries(value).flat()
  return tag + '(' + parts.map(part => described(part, seen)) + ')'
}`

it('brings values back as they were, and names those that it can not', async () => {
  const put = (value: string, key: string) => `await settled(store().put(${value}, ${key}))`
  const writes = [
    ...carried.map(([name, value]) => put(value, JSON.stringify(name))),
    ...leftOut.map(([name, value]) => `{ const value = ${value}; ${put('value', JSON.stringify(name))} }`),
    ...['0', 'new Date(5)', 'new Uint8Array([1, 2])', '[1, ["x"]]', '-Infinity'].map(key =>
      put('"by key"', key),
    ),
  ]
  await run(
    'odd',
    inDatabase('values', writes.join(';')),
    `localStorage.login = 'yes'; document.cookie = 'login=yes; max-age=999'`,
  )
  const compare = carried.map(
    ([name, value]) =>
      `[${JSON.stringify(name)}, described(await settled(store().get(${JSON.stringify(name)}))), described(${value})]`,
  )
  const [found, keys, login] = await run(
    'odd',
    inDatabase('values', `${described}; return [${compare.join()}]`),
    inDatabase(
      'values',
      `return (await settled(store().getAllKeys())).map(key => key instanceof ArrayBuffer ? 'bytes' : key instanceof Date ? key.getTime() : key)`,
    ),
    'localStorage.login + document.cookie',
  )
  for (const [name, got, wanted] of found as string[][]) expect(got, name).toBe(wanted)
  const names = carried.map(([name]) => name).toSorted()
  expect(keys).toEqual([-Infinity, 0, 5, ...names, 'bytes', [1, ['x']]])
  expect(login).toBe('yeslogin=yes')
  const note = await noteOf('odd')
  expect(note).toContain('values of the IndexedDB database "values" of http://127.0.0.1:')
  for (const [, , kind] of leftOut) expect(note).toContain(kind)
})

it('keeps databases of all forms', async () => {
  const add = `await settled(store().put({ id: 'x', a: 1, b: 2 }))`
  const read =
    'const { keyPath, autoIncrement, indexNames } = store(); return [await settled(store().getAll()), keyPath, autoIncrement, [...indexNames], opening.result.version]'
  const forms: [string, string][] = [
    ['', `{ keyPath: 'id' }`],
    ['a path of two', `{ keyPath: ['id', 'a'] }`],
    ['numbered', '{ autoIncrement: true }'],
    ['numbered within', `{ keyPath: 'number', autoIncrement: true }`],
  ]
  const empty = `new Promise(done => { indexedDB.open('empty', 7).onsuccess = ({ target }) => done(target.result.close()) })`
  await run('forms', empty, ...forms.map(([name, options]) => inDatabase(name, add, options)))
  const reads = forms.map(([name, options]) => inDatabase(name, read, options))
  const known = `indexedDB.databases().then(all => all.map(({ name, version }) => name + version).toSorted())`
  const [databases, ...found] = await run('forms', known, ...reads)
  expect(databases).toEqual(['3', 'a path of two3', 'empty7', 'numbered within3', 'numbered3'])
  const value = { id: 'x', a: 1, b: 2 }
  expect(found).toEqual([
    [[value], 'id', false, ['by size'], 3],
    [[value], ['id', 'a'], false, ['by size'], 3],
    [[value], null, true, ['by size'], 3],
    [[{ ...value, number: 1 }], 'number', true, ['by size'], 3],
  ])
  expect(await noteOf('forms')).toBeNull()
})

it('is saved while its session goes on, so that a crash loses little', async () => {
  const opened = await openSession(app, { profile: 'kept' })
  await logIn(opened)
  clock.advance(5 * 60_000)
  const sizes = async () =>
    (await app.call<{ profiles: { size: number }[] }>('GET', `${profiles}?search=kept`)).body
  await eventually(async () => expect((await sizes()).profiles[0]?.size).toBeGreaterThan(100))
})

it(`${row('POST /api/agents/{id}/browser')} what is too large is left out, and named; the session goes on`, async () => {
  await run(
    'large',
    inDatabase('huge', `await settled(store().put('x'.repeat(20e6), 'x'))`),
    inDatabase('small', `await settled(store().put('x', 'x'))`),
    `new Promise(done => { indexedDB.open('\u00e9'.repeat(3e6)).onsuccess = ({ target }) => done(target.result.close()) })`,
    // In messages from the browser, texts like these are several times as long as they are.
    inDatabase('quotes', `await settled(store().put('"'.repeat(1.25e6), 'x'))`),
    `localStorage.login = 'yes'; localStorage.much = '\u0001'.repeat(1e6); localStorage.accents = '\u00e9'.repeat(1.2e6); localStorage['\u00e9'.repeat(1e6)] = '\u0001'.repeat(1e6); 0`,
  )
  expect(await noteOf('large')).toMatch(
    /^Left out: localStorage item "much" of http:[^;]* \(too large\); IndexedDB database "huge" of http:[^;]* \(too large\)\.$/,
  )
  const read = 'return await settled(store().getAll())'
  expect(
    await run(
      'large',
      ...['huge', 'small', 'quotes'].map(name => inDatabase(name, read)),
      'localStorage.login + localStorage.accents.length',
    ),
  ).toEqual([[], ['x'], ['"'.repeat(1.25e6)], 'yes1200000'])
})

it('the setting for the profile of chat takes names of profiles only', async () => {
  const settings = '/api/agents/default/settings'
  expect(await app.call('PUT', settings, { body: { browser_profile: 'shop' } })).toMatchObject({
    status: 200,
  })
  expect((await app.call('PUT', settings, { body: { browser_profile: '../x' } })).status).toBe(400)
})
