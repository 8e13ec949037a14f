/** Somebody with 10,000 agents, one of which has 100,000 messages: what pages and searches take, and who waits while all go. */
import { createEngine as createPostgresEngine } from '#storage/postgres/engine.ts'
import { openDataDirectory } from '#storage/sqlite/connections/data-directory.ts'
import { createEngine as createSqliteEngine } from '#storage/sqlite/engine.ts'
import { makeDataDirectory } from './support/data-directory.ts'
import { makeDatabase } from './support/database.ts'
import { startProgram } from './support/program.ts'
import { call, startService } from './support/service.ts'
import { startProbe } from './support/start-probe.ts'
import { median, percentile } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'
import { createWriter } from './support/text.ts'

const agents = { large: 10_000, small: 50 }
const conversations = 50
const messages = 2000
const rowsAtOnce = 500
const rounds = 15
const at = '2026-01-01T00:00:00.000Z'

const dataDirectory = makeDataDirectory()
const database = await makeDatabase()
const startFor = (owner: string) =>
  startService({
    dataDirectory,
    environment: { DEV_USER: `${owner}@localhost.test`, ...(database && { DATABASE_URL: database }) },
  })

const agentId = await prepare()
const pages = { small: await pageOf('small'), large: await pageOf('large') }
await using service = await startFor('large')
const chat = `${service.address}/api/agents/${agentId}/chat`
const searches = [
  { what: 'a word that stands nowhere', search: 'zzyzx' },
  { what: 'letters that stand everywhere', search: 'e' },
  { what: 'a word with other letters than ASCII', search: 'Ähnlichkeit' },
]
printTable('a page of 50 agents', 'the same for somebody with 50', [
  {
    what: 'of 10,000: milliseconds',
    service: `${rounded(pages.large)} ms`,
    reference: `${rounded(pages.small)} ms`,
    figure: pages.large / pages.small,
    unit: '×',
    bar: { most: 1.5 },
  },
])
const rows = []
for (const { what, search } of searches) {
  const figure = await medianOf(`${chat}?search=${encodeURIComponent(search)}`)
  rows.push({ what, service: `${rounded(figure)} ms`, figure, unit: 'ms' as const, bar: { most: 300 } })
}
printTable('searching 100,000 messages', 'none', rows)
await deleteAll()

/** Fills the databases without the service, which would take minutes; the id of the agent with messages. */
async function prepare(): Promise<string> {
  const first = await startFor('large')
  const headers = { 'content-type': 'application/json' }
  const request = { method: 'POST', headers, body: JSON.stringify({ name: 'talkative' }) }
  const { id } = await call<{ id: string }>(`${first.address}/api/agents`, request)
  await call(`${first.address}/api/agents/${id}`)
  await first.stop()
  const engine =
    database === undefined
      ? createSqliteEngine({ directory: await openDataDirectory(dataDirectory), synchronous: 'normal' })
      : createPostgresEngine({ url: database, maxConnections: 3, onError: error => console.error(error) })
  const platform = await engine.openPlatform()
  for (const owner of ['large', 'small'] as const)
    for (let begin = 0; begin < agents[owner]; begin += rowsAtOnce) {
      const ids = Array.from(
        { length: Math.min(rowsAtOnce, agents[owner]) },
        (_, n) => `${owner}-${begin + n}`,
      )
      const text = { description: '', status: 'active', settings: '{}', created_at: at, updated_at: at }
      await platform
        .insertInto('agents')
        .values(ids.map(one => ({ id: one, name: one, name_key: one, ...text })))
        .execute()
      const entry = { email: `${owner}@localhost.test`, role: 'owner', created_at: at, agent_created_at: at }
      await platform
        .insertInto('agent_admins')
        .values(ids.map(one => ({ id: one, agent_id: one, ...entry })))
        .execute()
    }
  await platform.destroy()
  await addMessages(engine, id)
  await engine.close()
  return id
}

async function addMessages(engine: Pick<ReturnType<typeof createSqliteEngine>, 'openAgent'>, id: string) {
  const { text } = createWriter(7)
  const { db } = await engine.openAgent(id)
  for (let number = 0; number < conversations; number += 1) {
    const conversation = { id: `c${number}`, title: 'Many', message_count: messages, last_message_at: at }
    await db
      .insertInto('conversations')
      .values({ ...conversation, created_at: at, lock_token: 0 })
      .execute()
    for (let begin = 0; begin < messages; begin += rowsAtOnce)
      await db
        .insertInto('messages')
        .values(
          Array.from({ length: rowsAtOnce }, (_, n) => ({
            id: `m${number}-${begin + n}`,
            conversation_id: conversation.id,
            role: 'user',
            content: text(300),
            created_at: at,
          })),
        )
        .execute()
  }
  await db.destroy()
}

async function pageOf(owner: 'large' | 'small'): Promise<number> {
  await using running = await startFor(owner)
  return await medianOf(`${running.address}/api/agents`)
}

/** Milliseconds, once the process has all that it needs. */
async function medianOf(address: string): Promise<number> {
  const times: number[] = []
  for (let round = -3; round < rounds; round += 1) {
    const begun = performance.now()
    await call(address)
    if (round >= 0) times.push(performance.now() - begun)
  }
  return median(times)
}

async function deleteAll(): Promise<void> {
  await using bare = await startProgram({ parameters: ['bench/support/bare-health.ts'] })
  const endProbe = await startProbe([service.address, bare.address].map(address => `${address}/healthz`))
  const begun = performance.now()
  await call(chat, { method: 'DELETE' })
  const seconds = (performance.now() - begun) / 1000
  const [health = [], reference = []] = await endProbe()
  const [p99, referenceP99] = [percentile(health, 0.99), percentile(reference, 0.99)]
  printTable('deleting 100,000 messages', 'a bare Fastify that is asked at the same moments', [
    {
      what: `GET /healthz meanwhile, p99 of ${health.length}`,
      service: `${rounded(p99)} ms`,
      reference: `${rounded(referenceP99)} ms`,
      figure: p99 - referenceP99,
      unit: 'ms',
      bar: { most: 20 },
    },
    { what: 'until all are gone', service: '', figure: seconds, unit: 's' },
  ])
}
