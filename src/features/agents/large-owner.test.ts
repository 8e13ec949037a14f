/** The list of agents of somebody who has very many. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { threadTime } from '#test/support/processor-time.ts'

const large = { email: 'large@example.com', agents: 10_000 }
const small = { email: 'small@example.com', agents: 50 }
const rowsAtOnce = 500

let gateway: Gateway
let app: TestApp

beforeAll(async () => {
  gateway = await startGateway()
  app = await buildApp({ environment: gateway.environment })
  for (const owner of [large, small]) await addAgents(owner)
})

afterAll(async () => {
  await app.close()
  await gateway.close()
})

/** As they are stored, without a request for each. */
async function addAgents({ email, agents }: typeof large): Promise<void> {
  const { platform } = app.service.infrastructure
  for (let first = 0; first < agents; first += rowsAtOnce) {
    const rows = Array.from({ length: Math.min(rowsAtOnce, agents - first) }, (_, index) => {
      const number = first + index
      const id = `${email.slice(0, 5)}-${String((number * 7919) % agents).padStart(5, '0')}`
      const created_at = new Date(Date.UTC(2001) + number * 1000).toISOString()
      const text = { id, name: id, name_key: id, description: '', status: 'active', settings: '{}' }
      return { ...text, created_at, updated_at: created_at }
    })
    await platform.insertInto('agents').values(rows).execute()
    const admins = rows.map(({ id, created_at }) => ({
      id,
      agent_id: id,
      email,
      role: 'owner',
      created_at,
      agent_created_at: created_at,
    }))
    await platform.insertInto('agent_admins').values(admins).execute()
  }
}

interface AgentPage {
  agents: { id: string; owner_email: string | null; created_at: string }[]
  meta: { total: number; next_cursor: string | null; has_more: boolean }
}

async function list({ email }: typeof large, query: string): Promise<AgentPage> {
  const headers = await gateway.headers(email)
  const { status, body } = await app.call<AgentPage>('GET', `/api/agents?${query}`, { headers })
  expect(status).toBe(200)
  return body
}

describe('the list of agents of somebody with 10,000', () => {
  it.each(['', 'order=desc', 'offset=40', 'cursor='])(
    'costs the process about what it costs with 50: ?%s',
    async query => {
      const costOf = (owner: typeof large) =>
        threadTime(async () => {
          for (let time = 0; time < 10; time += 1) await list(owner, query)
        })
      const costs: Record<'large' | 'small', number[]> = { large: [], small: [] }
      for (let round = 0; round < 4; round += 1) {
        costs.large.push(await costOf(large))
        costs.small.push(await costOf(small))
      }
      // Without an index in this order it is twenty times as much.
      expect(Math.min(...costs.large) / Math.min(...costs.small)).toBeLessThan(3)
    },
  )

  it('is in the order of their ages, page after page', async () => {
    const found: AgentPage['agents'] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { agents, meta }: AgentPage = await list(large, `limit=1000&cursor=${cursor}`)
      // With the one that is open to all.
      expect(meta.total).toBe(10_001)
      found.push(...agents)
      cursor = meta.next_cursor
    }
    expect(new Set(found.map(({ id }) => id)).size).toBe(10_001)
    expect(found.map(({ created_at }) => created_at)).toEqual(
      found.map(({ created_at }) => created_at).toSorted(),
    )
    expect(found.filter(({ owner_email }) => owner_email === large.email)).toHaveLength(10_000)
  })

  it.each([
    ['sort=name&limit=2', ['default', 'large-00000']],
    ['sort=owner_email,name&order=desc,asc&limit=2', ['large-00000', 'large-00001']],
    ['search=LARGE-0999&sort=id&limit=2', ['large-09990', 'large-09991']],
    ['status=active&sort=id&order=desc&limit=2', ['large-09999', 'large-09998']],
  ])('can be had in other orders and in part: ?%s', async (query, expected) => {
    expect((await list(large, query)).agents.map(({ id }) => id)).toEqual(expected)
  })

  it('names the open agent once, also to who has a role on it', async () => {
    const entry = { id: 'open', agent_id: 'default', email: small.email, role: 'owner' }
    const created_at = '2001-01-01T00:00:00.000Z'
    await app.service.infrastructure.platform
      .insertInto('agent_admins')
      .values({ ...entry, created_at, agent_created_at: created_at })
      .execute()
    const { agents, meta } = await list(small, 'limit=100&cursor=')
    expect(agents.filter(({ id }) => id === 'default')).toHaveLength(1)
    expect(meta.total).toBe(51)
  })
})
