import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { bareServer } from '#test/support/bare-server.ts'
import { type DeclaredRoute, requireDeclarations } from './access.ts'
import type { App } from './app.ts'
import { routesBelow } from './routes.ts'

const noteSchema = Type.Object({ text: Type.String() })
const meta = { total: 1, limit: 50, offset: 0, has_more: false }
const answer = Type.Object({ seen: Type.Array(Type.Unknown()) })
const words = { name: 'note', summary: 'Note' }

function declareNotes(app: App): void {
  const routes = routesBelow(app, '/api/agents/:id/notes', 'Notes', 'payments')
  routes.list('', {
    ...words,
    rows: 'notes',
    of: noteSchema,
    handle: async () => ({ rows: [{ text: 'a', secret: 'b' }], meta }),
  })
  routes.create('', {
    ...words,
    body: noteSchema,
    answer,
    handle: ({ params, body }) => ({ seen: [params.id, body.text] }),
  })
  routes.get('/:noteId', {
    ...words,
    parameters: { noteId: Type.String({ pattern: '^n' }) },
    query: Type.Object({ limit: Type.Optional(Type.Integer()) }),
    answer,
    handle: async ({ params, query }) => ({ seen: [params.id, params.noteId, query.limit] }),
  })
  routes.post('/:noteId', { ...words, answer, handle: () => ({ seen: [] }) })
  routes.update('/:noteId', { ...words, access: 'owner', answer, handle: () => ({ seen: [] }) })
  routes.delete('/:noteId/text', { ...words, limit: 'bulk', answer, handle: () => ({ seen: [] }) })
  routes.remove('/:noteId', { ...words, handle: async () => 'nothing of this is sent' })
}

describe('a declared route', () => {
  it.each([
    ['GET', '', 200, { notes: [{ text: 'a' }], meta }],
    ['GET', '?limit=0', 400],
    ['POST', '', 201, { seen: ['1', 'b'] }],
    ['GET', '/n2?limit=3', 200, { seen: ['1', 'n2', 3] }],
    ['GET', '/2', 400],
    ['GET', '/n2?limit=x', 400],
    ['POST', '/n2', 200, { seen: [] }],
    ['PUT', '/n2', 200, { seen: [] }],
    ['DELETE', '/n2/text', 200, { seen: [] }],
    ['DELETE', '/n2', 200, { success: true }],
  ] as const)('%s …/notes%s answers with %i', async (method, path, status, body?: object) => {
    const { call } = await bareServer({ routes: declareNotes })
    const payload = method === 'POST' ? { text: 'b' } : undefined
    const answered = await call({ method, url: `/api/agents/1/notes${path}`, ...(payload && { payload }) })
    expect(answered.statusCode).toBe(status)
    if (body !== undefined) expect(answered.json()).toEqual(body)
  })

  it('is for viewers to read and for admins to change, unless it says otherwise', async () => {
    let declared: readonly DeclaredRoute[] = []
    await bareServer({
      routes(app) {
        declared = requireDeclarations(app)
        declareNotes(app)
      },
    })
    const lines = declared.map(({ method, config: { access, limit, area } }) =>
      [method, access, limit, area].join(' '),
    )
    expect(lines.filter(line => !line.startsWith('HEAD'))).toEqual([
      'GET viewer general payments',
      'POST admin general payments',
      'GET viewer general payments',
      'POST admin general payments',
      'PUT owner general payments',
      'DELETE admin bulk payments',
      'DELETE admin general payments',
    ])
  })
})
