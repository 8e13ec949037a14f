import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { crashRounds, seededRandom } from '../support/endurance.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

interface SourceBody {
  id: string
  status: string
  chunks?: number
}

const sources = '/api/agents/default/sources'
/** The service promises that nothing stays in work for longer than this after a crash, in milliseconds. */
const recoveryLimit = 60_000

/** The one word by which this document, and no other, is found. */
const wordOf = (document: string) => `zyx${document.replaceAll('-', 'q')}`

function documentText(document: string): string {
  const paragraphs = Array.from(
    { length: 400 },
    (_, n) => `Paragraph ${n} of the report speaks of tides, dunes and the sea.`,
  )
  paragraphs[200] = `Here stands the word ${wordOf(document)}.`
  return paragraphs.join('\n\n')
}

async function upload(server: ServerProcess, document: string): Promise<string> {
  const form = new FormData()
  form.append('type', 'file')
  form.append('name', document)
  form.append('file', new File([documentText(document)], `${document}.txt`))
  const response = await fetch(`${server.url}${sources}`, { method: 'POST', body: form })
  if (response.status !== 201) throw new Error(`the upload was answered with ${response.status}`)
  return ((await response.json()) as SourceBody).id
}

/** Waits until no source is in work; how long that took, in milliseconds. */
async function untilSettled(server: ServerProcess): Promise<number> {
  const begun = performance.now()
  while (performance.now() - begun < recoveryLimit) {
    const { body } = await server.call<{ meta: { total: number } }>(
      'GET',
      `${sources}?status=processing&status=updating&status=pending`,
    )
    if (body.meta.total === 0) return performance.now() - begun
    await delay(50)
  }
  throw new Error('sources are still in work after the promised time')
}

describe('kill -9 while documents are processed', () => {
  it(`loses nothing that was acknowledged and leaves nothing in work (${crashRounds} times)`, async () => {
    const dataDirectory = temporaryDirectory()
    const random = seededRandom(20261121)
    const acknowledged = new Map<string, string>()
    for (let round = 1; round <= crashRounds; round += 1) {
      const server = await startServerProcess({ dataDirectory })
      for (let n = 1; n <= 4; n += 1) {
        const document = `doc-${round}-${n}`
        acknowledged.set(await upload(server, document), document)
      }
      await delay(random() * 800)
      await server.kill()
    }
    await using server = await startServerProcess({ dataDirectory })
    expect(await untilSettled(server)).toBeLessThan(recoveryLimit)
    for (const [id, document] of acknowledged) {
      expect((await server.call<SourceBody>('GET', `${sources}/${id}`)).body, document).toMatchObject({
        status: 'ready',
      })
      const { body } = await server.call<{ results: { source_id: string; content: string }[] }>(
        'GET',
        `${sources}/search?query=${wordOf(document)}&limit=50`,
      )
      const holding = body.results.filter(({ content }) => content.includes(`${wordOf(document)}.`))
      expect(
        holding.map(({ source_id }) => source_id),
        document,
      ).toEqual([id])
    }
  })
})

describe('kill -9 while the databases are made', () => {
  it(`leaves them such that the next start is a good one (${crashRounds} times)`, async () => {
    const random = seededRandom(11)
    const usual = await startOn(temporaryDirectory())
    for (let round = 1; round <= crashRounds; round += 1) {
      const dataDirectory = temporaryDirectory()
      const controller = new AbortController()
      const dying = startServerProcess({
        dataDirectory,
        environment: { DEV_USER: 'dev@example.com' },
        signal: controller.signal,
      })
      await delay(usual * (0.5 + random() * 0.7))
      controller.abort()
      await dying.then(
        server => server.kill(),
        () => {},
      )
      await startOn(dataDirectory)
    }
  })

  /** Starts the service and uses both of its kinds of database; how long the start took, in milliseconds. */
  async function startOn(dataDirectory: string): Promise<number> {
    await using server = await startServerProcess({
      dataDirectory,
      environment: { DEV_USER: 'dev@example.com' },
    })
    const created = await server.call<{ id: string }>('POST', '/api/agents', {
      body: { name: 'after-the-crash' },
    })
    expect([201, 409]).toContain(created.status)
    for (const id of ['default', created.body.id].filter(one => one !== undefined))
      expect(
        (await server.call('POST', `/api/agents/${id}/chat`, { body: { content: 'Hello' } })).status,
      ).toBe(200)
    return server.startedIn
  }
})
