import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'
import { turnsDuring } from '#test/support/turns-during.ts'

const entry = Type.Object({ name: Type.String(), tags: Type.Array(Type.String()), other: Type.Unknown() })
const answer = Type.Object({
  total: Type.Integer(),
  entries: Type.Array(entry),
  few: Type.Array(Type.String()),
  meta: Type.Object({ entries: Type.Optional(Type.Array(Type.Integer())) }),
})

function entries(count: number, length: number) {
  return Array.from({ length: count }, (_, at) => ({
    name: `"${at}" é\u2028`,
    tags: ['"entries":[]'],
    other: at % 2 === 0 ? { text: 'x'.repeat(length) } : null,
    secret: 'left out',
  }))
}

const cases: [kind: string, payload: object][] = [
  ['no entry', { total: 0, entries: [], few: [], meta: {} }],
  ['some', { total: 3, entries: entries(3, 10), few: ['a'], meta: {}, unknown: 1 }],
  ['more than is written at a time', { total: 9, entries: entries(200, 5_000), few: ['a', 'b'], meta: {} }],
  ['a list of the same name elsewhere', { total: 2, entries: entries(2, 5), few: [], meta: { entries: [] } }],
  ['other types', { total: 2, entries: entries(3, 5), few: [null, 'x', 1, 2], meta: {} }],
]

it.each(cases)('a list of %s is sent as its schema says, with its length', async (_kind, payload) => {
  const { call } = await bareServer({
    routes: bare => {
      const schema = { response: { 200: answer } }
      bare.get('/api/entries', { config: plainRoute, schema }, async () => payload as never)
      // Writes all at once.
      bare.get('/api/whole', { config: plainRoute, schema }, (_request, reply) => {
        const text = reply.getSerializationFunction('200')?.(payload as never)
        void reply.type('application/json; charset=utf-8').send(text as never)
      })
    },
  })
  const [list, whole] = [
    await call({ method: 'GET', url: '/api/entries' }),
    await call({ method: 'GET', url: '/api/whole' }),
  ]
  expect(list.body).toBe(whole.body)
  const headersOf = ({ headers }: typeof list) => ({ ...headers, 'x-request-id': '', date: '' })
  expect(headersOf(list)).toEqual(headersOf(whole))
})

it('others get their turns while a large list is written', async () => {
  const payload = { total: 1, entries: entries(2_000, 19_000), few: [], meta: {} }
  const { call } = await bareServer({
    routes: bare => {
      const schema = { response: { 200: answer } }
      bare.get('/api/entries', { config: plainRoute, schema }, async () => payload as never)
    },
  })
  await call({ method: 'GET', url: '/api/entries' })
  expect(await turnsDuring(call({ method: 'GET', url: '/api/entries' }))).toBeGreaterThan(3)
})
