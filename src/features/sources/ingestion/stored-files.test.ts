/** Where uploads are kept: with the database that the tests run on, and in a bucket. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createIndexing } from '#features/knowledge/indexing.service.ts'
import type { SearchResult } from '#features/knowledge/knowledge.schema.ts'
import { randomIds } from '#platform/ids.ts'
import { makeAgent } from '#test/support/agents.ts'
import { failure, startBucket, type TestBucket } from '#test/support/bucket.ts'
import { type TestApp, testApp } from '#test/support/build-app.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { passTime } from '#test/support/pass-time.ts'
import { storedFiles } from '#test/support/stored-files.ts'
import { upload, uploadAndProcess } from '#test/support/upload.ts'
import type { Source } from '../sources.schema.ts'
import { createSourcesService } from '../sources.service.ts'

const sources = '/api/agents/default/sources'
const minute = 60_000

interface Stage {
  app: TestApp
  /** Names of the files of the agent `default`. */
  stored(): Promise<string[]>
}

async function databaseStage(): Promise<Stage> {
  const app = await testApp()
  return { app, stored: () => storedFiles(app) }
}

async function bucketStage(options: { clock?: ReturnType<typeof manualClock> } = {}) {
  const bucket = await startBucket()
  const app = await testApp({ environment: bucket.environment, ...options })
  const stored = async () => {
    // Where there is a bucket, nothing lies elsewhere.
    expect(await storedFiles(app)).toEqual([])
    return [...bucket.objects.keys()].map(key => key.replace('agents/default/', ''))
  }
  return { bucket, app, stored }
}

async function find(app: TestApp, words: string): Promise<string[]> {
  const path = `${sources}/search?query=${encodeURIComponent(words)}`
  const { body } = await app.call<{ results: SearchResult[] }>('GET', path)
  return body.results.map(result => result.source_id)
}

async function sourceOf(app: TestApp, id: string): Promise<Source> {
  return (await app.call<Source>('GET', `${sources}/${id}`)).body
}

describe.each<[where: string, open: () => Promise<Stage>]>([
  ['with the database', databaseStage],
  ['in a bucket', bucketStage],
])('an upload that is kept %s', (_where, open) => {
  it('is processed, found, processed anew, and gone once it is deleted', async () => {
    const { app, stored } = await open()
    const content = `The herring migrates in spring. ${'It swims. '.repeat(60_000)}`
    const id = await uploadAndProcess(app, { name: 'fish.txt', content })
    expect(await sourceOf(app, id)).toMatchObject({ status: 'ready' })
    expect(await find(app, 'herring spring')).toContain(id)
    expect(await stored()).toEqual([id])
    expect((await app.call('POST', `${sources}/${id}/refresh`)).status).toBe(200)
    await app.service.infrastructure.runner.idle()
    expect(await sourceOf(app, id)).toMatchObject({ status: 'ready' })
    expect((await app.call('DELETE', `${sources}/${id}`)).status).toBe(200)
    await app.service.infrastructure.runner.idle()
    expect(await stored()).toEqual([])
  })

  it('leaves nothing behind when its form is refused', async () => {
    const { app, stored } = await open()
    expect((await upload(app, { name: 'a.txt', content: 'Text', fields: { overlap: '-1' } })).status).toBe(
      400,
    )
    expect((await upload(app, { name: 'a.txt', content: '' })).status).toBe(400)
    expect(await stored()).toEqual([])
  })

  it('ends in error at once when it is no longer there', async () => {
    const { app } = await open()
    const id = await uploadAndProcess(app, { name: 'fish.txt', content: 'Text of a fish.' })
    await app.service.infrastructure.agentDatabases.use('default', ({ files }) => files.remove(id))
    await app.call('POST', `${sources}/${id}/refresh`)
    await app.service.infrastructure.runner.idle()
    expect(await sourceOf(app, id)).toMatchObject({
      status: 'error',
      error: 'The file of this source is missing.',
    })
  })
})

describe('a file that a process stored and then died', () => {
  async function stage() {
    const clock = manualClock()
    const app = await testApp({ clock })
    const { transact, agentDatabases, documentWorkers } = app.service.infrastructure
    const service = createSourcesService({
      transact,
      requireEmbedding: async () => {},
      indexing: createIndexing(documentWorkers),
      clock,
      ids: randomIds,
    })
    const begin = () =>
      agentDatabases.use('default', async agent => {
        const begun = service.beginUpload(agent)
        await begun.store(Readable.from([Buffer.from('Half of a sentence')]), 'half.txt')
        return begun
      })
    const jobs = () =>
      agentDatabases.use('default', ({ db }) => db.selectFrom('outbox').select('name').execute())
    const pass = (minutes: number) => passTime(app, clock, minutes * minute)
    return { app, service, begin, jobs, pass }
  }

  it('is removed after an hour, when it has become the file of no source', async () => {
    const { app, begin, jobs, pass } = await stage()
    const { id } = await begin()
    await pass(59)
    expect(await storedFiles(app)).toEqual([id])
    await pass(2)
    expect(await storedFiles(app)).toEqual([])
    expect(await jobs()).toEqual([])
  })

  it('stays when it has become one, whose row takes the job back', async () => {
    const { app, service, begin, jobs, pass } = await stage()
    const begun = await begin()
    const form = { fields: {}, file: { field: 'file', name: 'half.txt', bytes: 18 } }
    await app.service.infrastructure.agentDatabases.use('default', agent =>
      service.create(agent, begun, form),
    )
    await app.service.infrastructure.runner.idle()
    expect(await jobs()).toEqual([])
    await pass(120)
    expect(await storedFiles(app)).toEqual([begun.id])
  })

  it('stays when a source names it although the job is still there', async () => {
    const { app, begin, pass } = await stage()
    const { id } = await begin()
    const text = { type: 'file', name: 'half.txt', status: 'ready', config: '{}' }
    const time = '2026-01-01T00:00:00.000Z'
    await app.service.infrastructure.agentDatabases.use('default', ({ db }) =>
      db
        .insertInto('sources')
        .values({ ...text, id, file_path: id, progress: 1, created_at: time, updated_at: time })
        .execute(),
    )
    await pass(61)
    expect(await storedFiles(app)).toEqual([id])
  })
})

describe('a bucket that fails', () => {
  /** Refuses everything, and repeats the key that it was given. */
  function breakDown(bucket: TestBucket): void {
    const { accessKeyId, secretAccessKey } = bucket.settings
    bucket.trouble = () => failure(403, 'AccessDenied', `${accessKeyId} ${secretAccessKey}`)
  }

  function secretsIn(
    { logged, dataDirectory }: TestApp,
    { settings }: TestBucket,
    said: unknown[],
  ): string[] {
    const files = readdirSync(dataDirectory, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    const texts = [...logged, ...files, JSON.stringify(said)]
    return [settings.accessKeyId, settings.secretAccessKey].filter(secret =>
      texts.some(text => text.includes(secret)),
    )
  }

  it('makes an upload fail with a reason, and no source', async () => {
    const { app, bucket } = await bucketStage()
    breakDown(bucket)
    const answer = await upload(app, { name: 'fish.txt', content: 'Text of a fish.' })
    expect(answer).toMatchObject({
      status: 500,
      body: {
        error: {
          code: 'INTERNAL_ERROR',
          message: expect.stringMatching(
            /^The bucket for files answered with status 403 \(AccessDenied\)\. Quote request/,
          ),
        },
      },
    })
    expect(await app.call('GET', sources)).toMatchObject({ body: { sources: [] } })
    expect(app.logged.join('')).toContain('AccessDenied')
    expect(secretsIn(app, bucket, [answer])).toEqual([])
  })

  it('makes processing fail with a reason after some attempts, and can be tried again', async () => {
    const clock = manualClock()
    const { app, bucket } = await bucketStage({ clock })
    const id = await uploadAndProcess(app, { name: 'fish.txt', content: 'Text of a fish.' })
    breakDown(bucket)
    await app.call('POST', `${sources}/${id}/refresh`)
    await app.service.infrastructure.runner.idle()
    for (let attempt = 1; attempt < 5; attempt += 1) await passTime(app, clock, 5 * minute)
    const source = await sourceOf(app, id)
    expect(source).toMatchObject({
      status: 'error',
      error:
        'This file could not be processed: The bucket for files answered with status 403 (AccessDenied).',
    })
    expect(bucket.requests.filter(request => request.startsWith('GET'))).toHaveLength(6)
    expect(await find(app, 'fish')).toContain(id)
    expect(secretsIn(app, bucket, [source])).toEqual([])

    bucket.trouble = undefined
    await app.call('POST', `${sources}/${id}/refresh`)
    await app.service.infrastructure.runner.idle()
    expect(await sourceOf(app, id)).toMatchObject({ status: 'ready' })
  })
})

describe('deleting an agent whose files are in a bucket', () => {
  async function agentStage() {
    const bucket = await startBucket()
    const environment = { ...bucket.environment, DEV_USER: 'dev@example.com' }
    const app = await testApp({ environment })
    const agentId = await makeAgent(app)
    for (const name of ['a.txt', 'b.txt', 'c.txt', 'd.txt'])
      await upload(app, { name, content: 'Text', agentId })
    await app.service.infrastructure.runner.idle()
    await upload(app, { name: 'kept.txt', content: 'Text' })
    const remove = () => app.call('DELETE', `/api/agents/${agentId}`)
    const left = () => [...bucket.objects.keys()].filter(key => key.includes(agentId))
    return { app, bucket, environment, remove, left }
  }

  it('removes them, and no others', async () => {
    const { bucket, remove, left } = await agentStage()
    expect(left()).toHaveLength(4)
    expect((await remove()).status).toBe(200)
    expect(left()).toEqual([])
    expect(bucket.objects.size).toBe(1)
  })

  it('is finished by the next start at which the bucket works', async () => {
    const { app, bucket, environment, remove, left } = await agentStage()
    bucket.trouble = () => failure(503, 'SlowDown')
    expect(await remove()).toMatchObject({
      status: 500,
      body: { error: { message: expect.stringContaining('status 503 (SlowDown)') } },
    })
    await app.service.close()
    const { dataDirectory } = app
    const meanwhile = await testApp({ environment, dataDirectory })
    expect(meanwhile.logged.join('')).toContain('a deleted agent could not be removed')
    expect(left()).toHaveLength(4)
    await meanwhile.service.close()
    bucket.trouble = undefined
    await testApp({ environment, dataDirectory })
    expect(left()).toEqual([])
  })
})
