/**
 * Holds what the roles may do against every route of an agent, whatever the route itself declares, and lets no agent's
 * caller reach what belongs to another agent. The routes are those of the service, so that a new one is included.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { giveRole, makeAgent } from '../support/agents.ts'
import type { TestApp } from '../support/build-app.ts'
import { buildApp } from '../support/build-app.ts'
import type { Gateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'

type Headers = Record<string, string>

/** Where senders prove themselves, so that no role is needed; the tests of each show that nobody else is let in. */
const provenRoutes = ['POST /api/agents/:id/hooks/:token', 'GET /api/agents/:id/calendar/feed.ics']
/** What is the owner's alone. */
const ownersRoutes = [
  'DELETE /api/agents/:id',
  'POST /api/agents/:id/admins',
  'DELETE /api/agents/:id/admins/:adminId',
]
/** What `PUBLIC_ACCESS=chat` leaves beside reading. */
const chatRoutes = [
  'POST /api/agents/:id/chat',
  'POST /api/agents/:id/chat/conversations',
  'POST /api/agents/:id/chat/messages/:messageId/regenerate',
  'POST /api/agents/:id/mcp/endpoint',
  'DELETE /api/agents/:id/mcp/endpoint',
  'POST /api/agents/:id/mcp/endpoint/mcp',
  'DELETE /api/agents/:id/mcp/endpoint/mcp',
  'POST /api/agents/:id/mcp/endpoint/sse',
]

/** What a signature of its own decides: without one it is answered with 401, whoever asks. */
const signedRoutes = [
  'GET /api/agents/:id/channels/whatsapp/webhook',
  'POST /api/agents/:id/provider/webhook',
  'POST /api/agents/:id/channels/telegram/webhook',
  'POST /api/agents/:id/channels/whatsapp/webhook',
]

let gateway: Gateway
let app: TestApp
let owner: Headers
let agentId: string

beforeAll(async () => {
  gateway = await startGateway()
  app = await buildApp({ environment: gateway.environment })
  owner = await gateway.headers('owner@example.com')
  agentId = await makeAgent(app, { headers: owner })
})

afterAll(async () => {
  await app.close()
  await gateway.close()
})

/** Every call of an agent that users are asked for. */
function agentCalls({ routes }: TestApp) {
  const calls = routes
    .filter(({ method, url }) => url.startsWith('/api/agents/:id') && method !== 'HEAD')
    .map(({ method, url }) => ({ method, url, name: `${method} ${url}` }))
  expect(calls.length).toBeGreaterThan(40)
  return calls
}

const roleDecides = ({ name }: { name: string }) =>
  !signedRoutes.includes(name) && !provenRoutes.includes(name)

const reads = ({ method }: { method: string }) => method === 'GET'

/** Sends each call with a body that nobody could read, and tells which of them were refused with this status. */
async function refusedWith(status: number, on: TestApp, id: string, headers: Headers): Promise<string[]> {
  const refused: string[] = []
  for (const { method, url, name } of agentCalls(on)) {
    const answer = await on.call(method, url.replace(':id', id).replaceAll(/:\w+/g, 'x'), {
      headers: { ...headers, ...(method === 'GET' ? {} : { 'content-type': 'application/json' }) },
      ...(method === 'GET' ? {} : { payload: '{ no JSON' }),
    })
    if (answer.status === status) refused.push(name)
  }
  return refused
}

async function give(email: string, role: 'viewer' | 'admin' | 'owner') {
  const entry = await giveRole(app, agentId, { email, role, headers: owner })
  return { headers: await gateway.headers(email), entry }
}

const names = (calls: { name: string }[]) => calls.map(({ name }) => name)

describe('on an agent with owners, before any body is read,', () => {
  it('a bad token is refused everywhere, on the default agent as well', async () => {
    const headers = await gateway.headers('owner@example.com', { aud: ['other'] })
    for (const id of [agentId, 'default'])
      expect(await refusedWith(401, app, id, headers)).toEqual(names(agentCalls(app)))
  })

  it('nobody, a stranger and one whose role was taken away are refused everywhere', async () => {
    const { headers: former, entry } = await give('former@example.com', 'owner')
    expect(await refusedWith(403, app, agentId, former)).toEqual([])
    await app.call('DELETE', entry, { headers: owner })
    for (const headers of [{}, await gateway.headers('stranger@example.com'), former])
      expect(await refusedWith(403, app, agentId, headers)).toEqual(
        names(agentCalls(app).filter(roleDecides)),
      )
  })

  it('a viewer may read, and no more', async () => {
    const { headers } = await give('viewer@example.com', 'viewer')
    expect(await refusedWith(403, app, agentId, headers)).toEqual(
      names(agentCalls(app).filter(call => !reads(call) && roleDecides(call))),
    )
  })

  it('what a signature decides is refused without one', async () => {
    for (const id of [agentId, 'none']) expect(await refusedWith(401, app, id, {})).toEqual(signedRoutes)
  })

  it('an admin may do all but what is the owner’s', async () => {
    const { headers } = await give('admin@example.com', 'admin')
    expect((await refusedWith(403, app, agentId, headers)).toSorted()).toEqual(ownersRoutes.toSorted())
  })
})

describe('on the default agent callers without a user', () => {
  it.each([
    ['read', () => false],
    ['chat', (name: string) => chatRoutes.includes(name)],
    ['full', (name: string) => !ownersRoutes.includes(name)],
  ])('with PUBLIC_ACCESS=%s may do what it says', async (publicAccess, mayAlso) => {
    const open = await buildApp({ environment: { PUBLIC_ACCESS: publicAccess } })
    const refused = agentCalls(open).filter(call => !reads(call) && !mayAlso(call.name) && roleDecides(call))
    expect(await refusedWith(403, open, 'default', {})).toEqual(names(refused))
    await open.close()
  })
})
