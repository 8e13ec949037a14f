import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { Source } from '#features/sources/sources.schema.ts'
import { startCrawl } from '../support/crawl.ts'
import { crashRounds, seededRandom } from '../support/endurance.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { page, startSite } from '../support/site-server.ts'
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'

const agents = '/api/agents'
const sources = `${agents}/default/sources`
const environment = { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' }
/** Milliseconds after which all that was accepted has been worked off, once there is space. */
const recoveryLimit = 120_000
const random = seededRandom(20_261_123)

interface Accepted {
  sources: Map<string, string>
  conversations: string[]
  agents: string[]
}

type Attempt = (server: ServerProcess, accepted: Accepted) => Promise<number>

let count = 0
const next = () => {
  count += 1
  return count
}

const uploadDocument: Attempt = async (server, accepted) => {
  const word = `zyx${next()}q`
  const lines = Array.from(
    { length: 2_000 },
    (_, n) => `Line ${n} of ${word} tells of tides and dunes ${random()}.`,
  )
  const form = new FormData()
  form.append('type', 'file')
  form.append('file', new File([lines.join('\n\n')], `${word}.txt`))
  const response = await fetch(`${server.url}${sources}`, { method: 'POST', body: form })
  const { id } = (await response.json()) as { id: string }
  if (response.ok) accepted.sources.set(id, word)
  return response.status
}

const crawlSite =
  (url: string): Attempt =>
  async (server, accepted) => {
    const options = { url: `${url}/0`, maxDepth: 5, includePatterns: ['/*'] }
    const { status, body } = await startCrawl(server, options)
    if (status < 300) accepted.sources.set(body.id, 'dune39')
    return status
  }

const chat: Attempt = async (server, accepted) => {
  const { status, body } = await server.call<{ userMessage: { conversationId: string } }>(
    'POST',
    `${agents}/default/chat`,
    { body: { content: `Question ${next()}` } },
  )
  if (status < 300) accepted.conversations.push(body.userMessage.conversationId)
  return status
}

/** An agent's database is made, and migrated, when it is first used. */
const createAgent: Attempt = async (server, accepted) => {
  const created = await server.call<{ id: string }>('POST', agents, { body: { name: `agent-${next()}` } })
  if (created.status >= 300) return created.status
  accepted.agents.push(created.body.id)
  return (await server.call('GET', `${agents}/${created.body.id}`)).status
}

/** Whatever is read, or deleted, succeeds on a full disk. */
async function expectReadsAndDeletions(server: ServerProcess, accepted: Accepted): Promise<void> {
  expect((await server.call('GET', `${agents}/default`)).status).toBe(200)
  expect((await server.call('GET', sources)).status).toBe(200)
  const [source] = accepted.sources.keys()
  const agent = accepted.agents.shift()
  if (agent !== undefined) expect((await server.call('DELETE', `${agents}/${agent}`)).status).toBe(200)
  if (source === undefined) return
  expect((await server.call('DELETE', `${sources}/${source}`)).status).toBe(200)
  accepted.sources.delete(source)
  expect((await server.call('GET', `${sources}/${source}`)).status).toBe(404)
}

async function expectAllThere(server: ServerProcess, accepted: Accepted): Promise<void> {
  const begun = performance.now()
  for (const [id, word] of accepted.sources) {
    const read = () => server.call<Source>('GET', `${sources}/${id}`).then(({ body }) => body)
    while (/processing|pending|crawling/.test((await read()).status)) {
      expect(performance.now() - begun).toBeLessThan(recoveryLimit)
      await delay(100)
    }
    expect(await read()).toMatchObject({ status: 'ready' })
    const found = await server.call('GET', `${sources}/search?query=${word}&source_id=${id}`)
    expect(JSON.stringify(found.body)).toContain(word)
  }
  for (const id of accepted.conversations) {
    const { body } = await server.call<{ messages: unknown[] }>(
      'GET',
      `${agents}/default/chat?conversationId=${id}`,
    )
    expect(body.messages).toHaveLength(2)
  }
  for (const id of accepted.agents) expect((await server.call('GET', `${agents}/${id}`)).status).toBe(200)
}

async function startSiteOfPages(): Promise<string> {
  const site = await startSite(async ({ path }) => {
    const at = Number(path.slice(1))
    const links = [2 * at + 1, 2 * at + 2].filter(one => one < 40).map(one => `/${one}`)
    return at < 40 ? page(`Page ${at}`, links, `dune${at} `.repeat(2_000)) : undefined
  })
  onTestFinished(() => site[Symbol.asyncDispose]())
  return site.url
}

const linesAboutSpace = (server: ServerProcess) =>
  server
    .output()
    .split('\n')
    .filter(line => line.includes('"code":"STORAGE_FULL"'))

async function fillWhile(disk: SmallDisk, attempts: Promise<unknown>[]): Promise<void> {
  await Promise.race(attempts.toSpliced(0, Math.floor(random() * attempts.length)))
  await delay(random() * 200)
  disk.fill(Math.floor(random() * 1_000_000))
}

it(`a disk that becomes full at any moment loses nothing that was accepted (${crashRounds} times)`, async context => {
  const disk = await mountSmallDisk(96)
  if (disk === undefined) return context.skip('this system lets nobody mount a disk')
  const start = () => startServerProcess({ dataDirectory: disk.path, within: disk.within, environment })
  const crawl = crawlSite(await startSiteOfPages())
  const every = [uploadDocument, uploadDocument, crawl, chat, chat, createAgent, createAgent]
  await using first = await start()
  let server = first
  onTestFinished(() => server.kill())
  for (let round = 1; round <= crashRounds; round += 1) {
    const accepted: Accepted = { sources: new Map(), conversations: [], agents: [] }
    const attempts = every.map(attempt => attempt(server, accepted))
    await fillWhile(disk, attempts)
    for (const status of await Promise.all(attempts)) expect([200, 201, 202, 507]).toContain(status)
    await expectReadsAndDeletions(server, accepted)
    disk.fill()
    expect(linesAboutSpace(server).length).toBeLessThanOrEqual(1 + performance.now() / 60_000)
    if (round % 2 === 1) {
      await server.kill()
      server = await start()
      expect((await server.call('GET', '/readyz')).status).toBe(503)
      await expectReadsAndDeletions(server, accepted)
    }
    disk.empty()
    await expect.poll(async () => (await server.call('GET', '/readyz')).status).toBe(200)
    await expectAllThere(server, accepted)
    for (const id of accepted.sources.keys()) await server.call('DELETE', `${sources}/${id}`)
  }
})
