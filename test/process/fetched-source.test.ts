/** Sources that are fetched, over the end of the process that fetches them and a change of its key. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { runProgram } from '../support/run-program.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { type AnswerSite, startSite } from '../support/site-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

// Several processes start and end in one test.
vi.setConfig({ testTimeout: 180_000 })

const sources = '/api/agents/default/sources'
const secret = 'sk-tides-4711'
const text = Array.from({ length: 10_000 }, (_, n) => `Paragraph ${n} tells of tides at Zweidorf.`).join(
  '\n\n',
)
const document = { headers: { 'content-type': 'text/plain', etag: '"one"' }, body: text }

async function siteOf(answer: AnswerSite) {
  const site = await startSite(answer)
  onTestFinished(() => site[Symbol.asyncDispose]())
  return site
}

function start(dataDirectory: string, key?: string) {
  const environment = { OUTBOUND_ALLOW: '127.0.0.1', ...(key !== undefined && { ENCRYPTION_KEY: key }) }
  return startServerProcess({ dataDirectory, environment })
}

async function create(server: ServerProcess, url: string): Promise<string> {
  const body = { type: 'api', name: 'Tides', url, headers: { 'X-Key': secret } }
  const { body: source } = await server.call<{ id: string }>('POST', sources, { body })
  return source.id
}

const find = async (server: ServerProcess, id: string) =>
  (await server.call<{ status: string; progress: number }>('GET', `${sources}/${id}`)).body

const settled = (server: ServerProcess, id: string) =>
  vi.waitUntil(
    async () => {
      const source = await find(server, id)
      return ['ready', 'error'].includes(source.status) ? source : undefined
    },
    { timeout: 240_000 },
  )

it('a fetch that a crash has ended is made again, with the headers that it had', async () => {
  const asked = Promise.withResolvers<void>()
  const site = await siteOf(() => {
    asked.resolve()
    return site.requests.length === 1 ? null : document
  })
  const dataDirectory = temporaryDirectory()
  const first = await start(dataDirectory)
  const id = await create(first, site.url)
  await asked.promise
  await first.kill()
  await using second = await start(dataDirectory)
  expect(await settled(second, id)).toMatchObject({ status: 'ready', progress: 1 })
  expect(site.requests.map(({ headers }) => headers['x-key'])).toEqual([secret, secret])
})

it('what a crash has left half indexed is completed, and nothing of it is found twice', async () => {
  const site = await siteOf(() => document)
  const dataDirectory = temporaryDirectory()
  const first = await start(dataDirectory)
  const id = await create(first, site.url)
  await vi.waitUntil(async () => (await find(first, id)).progress > 0.3, { timeout: 240_000, interval: 5 })
  await first.kill()
  await using second = await start(dataDirectory)
  const whole = await settled(second, id)
  expect(whole).toMatchObject({ status: 'ready' })
  const count = {
    query: `SELECT count(*), count(DISTINCT start_offset) FROM chunks WHERE source_id = '${id}'`,
  }
  const { body } = await second.call<{ rows: number[][] }>('POST', '/api/agents/default/sql/execute', {
    body: count,
  })
  const { chunks } = whole as unknown as { chunks: number }
  expect(body.rows).toEqual([[chunks, chunks]])
})

it('a change of the key keeps the headers, and no file holds them in clear text', async () => {
  const site = await siteOf(() => document)
  const dataDirectory = temporaryDirectory()
  const before = await start(dataDirectory)
  const id = await create(before, site.url)
  await settled(before, id)
  await before.stop()
  const previous = readFileSync(join(dataDirectory, 'encryption.key'), 'utf8').trim()
  const current = randomBytes(32).toString('base64')
  const keys = { ENCRYPTION_KEY_PREVIOUS: previous, ENCRYPTION_KEY: current }
  const rotateFile = new URL('../../src/rotate-key.ts', import.meta.url)
  expect(await runProgram(rotateFile, { DATA_DIR: dataDirectory, ...keys })).toMatchObject({
    code: 0,
    stderr: '',
  })
  for (const file of ['platform.db', 'agents/default/agent.db'])
    expect(readFileSync(join(dataDirectory, file)).includes(secret)).toBe(false)
  await using after = await start(dataDirectory, current)
  await after.call('POST', `${sources}/${id}/refresh`)
  expect(await settled(after, id)).toMatchObject({ status: 'ready' })
  expect(site.requests.map(({ headers }) => headers['x-key'])).toEqual([secret, secret])
  expect(site.requests[1]?.headers['if-none-match']).toBe('"one"')
})
