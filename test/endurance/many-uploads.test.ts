import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createWriter } from '../../bench/support/text.ts'
import { scaled } from '../support/endurance.ts'
import { type MixedDocument, mixDocuments, type Outcome } from '../support/mixed-documents.ts'
import { residentMemoryOf } from '../support/process-memory.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const count = scaled(1_000)
const characters = 105_000
const maxUploadBytes = 1_000_000
const memoryLimit = 600
/** Milliseconds for all of it, far more than it takes. */
const settleLimit = 1_500_000
const sources = '/api/agents/default/sources'
const inWork = 'status=pending&status=processing&status=updating'

interface SourceBody {
  id: string
  name: string
  status: string
  error?: string
}

/** The service, which dies on the way: whoever asks it meanwhile waits for its successor. */
interface Stage {
  server: ServerProcess
  /** Resolves once it was started again. */
  restarted: Promise<void>
  /** By the id of the source: what was answered with 201. */
  acknowledged: Map<string, MixedDocument>
  refused: MixedDocument[]
}

/** Uploads until it is answered: a connection that breaks tells nothing of what has become of the file. */
async function upload(stage: Stage, document: MixedDocument, bytes: Uint8Array): Promise<void> {
  for (;;) {
    const { server } = stage
    const form = new FormData()
    form.append('type', 'file')
    form.append('file', new File([new Uint8Array(bytes)], document.name))
    const response = await fetch(`${server.url}${sources}`, { method: 'POST', body: form }).catch(() => {})
    const text = await response?.text().catch(() => undefined)
    if (response !== undefined && text !== undefined) {
      note(stage, document, response.status, text)
      return
    }
    if (stage.server === server) await stage.restarted
  }
}

function note(stage: Stage, document: MixedDocument, status: number, text: string): void {
  const { outcome } = document
  if (outcome.kind === 'refused') {
    expect(status, document.name).toBe(outcome.status)
    expect(text).toContain(outcome.message)
    stage.refused.push(document)
  } else {
    expect(status, text).toBe(201)
    stage.acknowledged.set((JSON.parse(text) as SourceBody).id, document)
  }
}

async function countInWork({ server }: Stage): Promise<number> {
  const { body } = await server.call<{ meta: { total: number } }>('GET', `${sources}?${inWork}&limit=1`)
  return body.meta.total
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + settleLimit
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('sources are still in work after the time that is promised')
    await delay(50)
  }
}

async function crash(stage: Stage, restart: () => Promise<ServerProcess>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  stage.restarted = promise
  await stage.server.kill()
  stage.server = await restart()
  resolve()
}

async function expectOutcome({ server }: Stage, id: string, name: string, outcome: Outcome): Promise<void> {
  const { body } = await server.call<SourceBody>('GET', `${sources}/${id}`)
  if (outcome.kind !== 'ready') {
    expect(body, name).toMatchObject({ status: 'error' })
    expect(body.error).toContain(outcome.kind === 'error' ? outcome.reason : outcome.message)
    return
  }
  expect(body, name).toMatchObject({ status: 'ready' })
  const query = `query=${outcome.word}&source_id=${id}&limit=50`
  const found = await server.call<{ results: { content: string }[] }>('GET', `${sources}/search?${query}`)
  const holding = found.body.results.filter(({ content }) => content.includes(outcome.word))
  expect(holding.length, name).toBeGreaterThan(0)
}

/** Sources that nobody was told of may be there too: those whose answer a crash has cut off. None of them is in work. */
async function expectNothingLeft(stage: Stage, dataDirectory: string): Promise<void> {
  const { body } = await stage.server.call<{ meta: { total: number } }>('GET', `${sources}?limit=1`)
  expect(body.meta.total).toBeGreaterThanOrEqual(stage.acknowledged.size)
  const database = new DatabaseSync(`${dataDirectory}/agents/default/agent.db`, { readOnly: true })
  // What else waits is to take away, an hour later, files that became no source.
  expect(database.prepare("select name from outbox where name != 'upload.discard'").all()).toEqual([])
  expect(database.prepare('pragma quick_check').get()).toEqual({ quick_check: 'ok' })
  database.close()
}

it(`${count} files that come at once all end, whatever they hold, over two crashes`, async () => {
  const dataDirectory = temporaryDirectory()
  const environment = { MAX_UPLOAD_BYTES: `${maxUploadBytes}` }
  const { text: write } = createWriter(20_261_121)
  const documents = mixDocuments({ count, characters, write, maxUploadBytes })
  const bodies = await Promise.all(documents.map(document => document.make()))
  const start = () => startServerProcess({ dataDirectory, environment })
  const stage: Stage = {
    server: await start(),
    restarted: Promise.resolve(),
    acknowledged: new Map(),
    refused: [],
  }
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, residentMemoryOf(stage.server.process.pid ?? 0))
  }, 50)
  try {
    const uploads = Promise.all(
      documents.map((document, at) => upload(stage, document, bodies[at] ?? new Uint8Array())),
    )
    // One crash while they arrive, one when about half of them are done.
    await until(() => stage.acknowledged.size > count / 3)
    await crash(stage, start)
    await uploads
    expect(stage.acknowledged.size + stage.refused.length).toBe(count)
    await until(async () => (await countInWork(stage)) < count / 2)
    await crash(stage, start)
    await until(async () => (await countInWork(stage)) === 0)
  } finally {
    clearInterval(watch)
  }
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThan(memoryLimit)
  for (const [id, { name, outcome }] of stage.acknowledged) await expectOutcome(stage, id, name, outcome)
  await expectNothingLeft(stage, dataDirectory)
  await stage.server.kill()
})
