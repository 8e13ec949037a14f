/** PostgreSQL goes away, or has no place for another connection, while everybody writes. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { isFullEndurance } from '../support/endurance.ts'
import { eventually } from '../support/eventually.ts'
import { type PostgresServer, startPostgres } from '../support/postgres/server.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const rounds = isFullEndurance ? 10 : 1
const sources = '/api/agents/default/sources'
/** Nothing stays in work for longer than this, in milliseconds. */
const recoveryLimit = 120_000
/** Answers between two faults. */
const between = 20

/** What was answered, and what has become of requests that were not. */
interface Load {
  agents: string[]
  /** By their ids: a word that stands in no other one. */
  documents: Map<string, string>
  /** Statuses of all other answers; 0 where the connection broke. */
  failures: number[]
}

const acknowledged = ({ agents, documents }: Load) => agents.length + documents.size

async function sendAgent({ url }: ServerProcess, number: number): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ name: `agent-${number}` })
  return await fetch(`${url}/api/agents`, { method: 'POST', headers, body })
}

async function sendDocument({ url }: ServerProcess, word: string): Promise<Response> {
  const body = new FormData()
  body.append('type', 'file')
  body.append('file', new File([`Here stands the word ${word}.`], `${word}.txt`))
  return await fetch(`${url}${sources}`, { method: 'POST', body })
}

/** Writes, one after the other, until it is told to end. */
async function write(
  server: ServerProcess,
  load: Load,
  isOver: () => boolean,
  writer: number,
): Promise<void> {
  for (let number = 0; !isOver(); number += 1) {
    const word = `word${writer}x${number}x`
    const sending =
      writer % 2 === 0 ? sendAgent(server, writer * 1_000_000 + number) : sendDocument(server, word)
    const answer = await sending.then(
      async response => ({ status: response.status, id: ((await response.json()) as { id: string }).id }),
      () => ({ status: 0, id: '' }),
    )
    if (answer.status !== 201) {
      load.failures.push(answer.status)
      await delay(20)
    } else if (writer % 2 === 0) load.agents.push(answer.id)
    else load.documents.set(answer.id, word)
  }
}

async function untilMore(load: Load): Promise<void> {
  const enough = acknowledged(load) + between
  await eventually(() => expect(acknowledged(load)).toBeGreaterThanOrEqual(enough), recoveryLimit)
}

const statusOf = async (server: ServerProcess, path: string) => (await server.call('GET', path)).status

/** The server ends and comes back: meanwhile the service says that it is not ready, and goes on running. */
async function interrupt(postgres: PostgresServer, server: ServerProcess, signal: 'SIGINT' | 'SIGKILL') {
  await postgres.end(signal)
  await eventually(async () => expect(await statusOf(server, '/readyz')).toBe(503))
  expect(await statusOf(server, '/healthz')).toBe(200)
  await postgres.startAgain()
  await eventually(async () => expect(await statusOf(server, '/readyz')).toBe(200), recoveryLimit)
}

/** Takes all places that the server has, until the returned function is called. */
async function crowd({ url }: PostgresServer): Promise<() => Promise<void>> {
  const clients: pg.Client[] = []
  for (let isLetIn = true; isLetIn; ) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    isLetIn = await client.connect().then(
      () => true,
      () => false,
    )
    if (isLetIn) clients.push(client)
  }
  return async () => {
    await Promise.all(clients.map(client => client.end()))
  }
}

/** What was acknowledged is there, in the state that it should have. */
async function expectAll(server: ServerProcess, { agents, documents }: Load): Promise<void> {
  for (const id of agents) expect(await statusOf(server, `/api/agents/${id}`), id).toBe(200)
  for (const [id, word] of documents) {
    await eventually(async () => {
      const { body } = await server.call<{ status: string }>('GET', `${sources}/${id}`)
      expect(body, word).toMatchObject({ status: 'ready' })
    }, recoveryLimit)
    const found = await server.call<{ results: { content: string }[] }>(
      'GET',
      `${sources}/search?query=${word}`,
    )
    expect(
      found.body.results.some(({ content }) => content.includes(word)),
      word,
    ).toBe(true)
  }
}

it('loses nothing that was acknowledged, and needs nobody to recover', async () => {
  // What is acknowledged must outlive a crash of the server, though not of the machine.
  const postgres = await startPostgres({
    synchronous_commit: 'on',
    max_connections: '40',
    superuser_reserved_connections: '0',
  })
  onTestFinished(() => postgres.stop())
  const server = await startServerProcess({
    dataDirectory: temporaryDirectory(),
    environment: { DATABASE_URL: postgres.url, DEV_USER: 'owner@localhost.test', LEASE_SECONDS: '5' },
  })
  onTestFinished(() => server.kill())
  const load: Load = { agents: [], documents: new Map(), failures: [] }
  let isOver = false
  const writers = Promise.all([0, 1, 2, 3].map(writer => write(server, load, () => isOver, writer)))

  await untilMore(load)
  for (let round = 0; round < rounds; round += 1) {
    for (const signal of ['SIGINT', 'SIGKILL'] as const) {
      await interrupt(postgres, server, signal)
      await untilMore(load)
    }
    const before = load.failures.length
    const leave = await crowd(postgres)
    await untilMore(load)
    await leave()
    // Whoever needs a connection waits for one of those that there are.
    expect(load.failures.slice(before)).toEqual([])
  }
  isOver = true
  await writers
  // Failures are told as such: broken connections and errors of the server, never success.
  expect(load.failures.filter(status => status < 500 && status !== 0)).toEqual([])
  await expectAll(server, load)
})
