import { describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import type { WorkerPool, WorkerTask } from '#platform/workers/worker-pool.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { chunkOf } from '#test/support/chunk-rows.ts'
import { setSearchStage } from '#test/support/search-stage.ts'
import { indexDraft } from '../indexing/index-draft.ts'
import type { SearchTask } from './search.worker.ts'
import { createSearchIndex } from './search-index.ts'

async function setIndexStage() {
  const { path, addSource, write, replace, db, attempt } = await setSearchStage()
  const pool = createWorkerPool({ log: createLog('silent') })
  onTestFinished(() => pool.close())
  const index = createSearchIndex({ readers: pool, writers: pool })
  await addSource('manual')
  const source = { databasePath: path, sourceId: 'manual', attempt }
  const store = (count: number) =>
    write(async writer => {
      await writer.start('manual')
      await writer.store(
        'manual',
        Array.from({ length: count }, (_, at) => chunkOf(`tea number ${at}`)),
      )
    })
  const search = async (text: string, options = {}) =>
    (await index.search(path, { text, limit: 10, ...options })).map(({ content }) => content)
  const { signal } = new AbortController()
  const builtin = { provider: 'builtin' as const, id: 'builtin' }
  const draft = { source, db, index, model: builtin, signal, onProgress: async () => {} }
  return { pool, index, source, draft, store, replace, search, db, path }
}

/** A pool of readers, and the tasks that it has begun. */
function watched(pool: WorkerPool) {
  const begun: SearchTask[] = []
  const readers: WorkerPool = {
    ...pool,
    run<Result>(task: WorkerTask) {
      begun.push(task.argument as SearchTask)
      return pool.run<Result>(task)
    },
  }
  return { readers, begun }
}

describe('an index in worker threads', () => {
  test('finds what was written, reports the progress and forgets what was removed', async () => {
    const { index, source, draft, store, search } = await setIndexStage()
    await store(1100)
    const progress: number[] = []
    await indexDraft({ ...draft, onProgress: async share => void progress.push(share) })
    expect(progress).toEqual([512 / 1100, 1024 / 1100, 1])
    expect(await index.finish({ ...source, embedding: 'builtin/builtin-1' })).toBe(1100)
    expect(await search('number 777', { limit: 1 })).toEqual(['tea number 777'])
    await index.remove(source)
    expect(await search('tea')).toEqual([])
  })

  test('asks a provider for vectors part by part, and goes on where an attempt failed', async () => {
    const { index, source, draft, store, search } = await setIndexStage()
    await store(500)
    const asked: string[][] = []
    const vectorOf = (text: string) => {
      const angle = Number(text.split(' ').at(-1)) / 400
      return Float32Array.of(Math.cos(angle), Math.sin(angle))
    }
    const model = {
      provider: 'openai' as const,
      id: 'small',
      async embed(texts: readonly string[]) {
        asked.push([...texts])
        if (asked.length === 2) throw new Error('overloaded')
        return texts.map(vectorOf)
      },
    }
    await expect(indexDraft({ ...draft, model })).rejects.toThrow('overloaded')
    await indexDraft({ ...draft, model })
    expect(asked.map(({ length }) => length)).toEqual([192, 192, 192, 116])
    expect(new Set(asked.flat()).size).toBe(500)
    expect(asked[2]).toEqual(asked[1])
    expect(await index.finish({ ...source, embedding: 'openai/small' })).toBe(500)
    const space = { id: 'openai/small', dimensions: 2, form: 'floats' }
    const embedded = { space, vector: vectorOf('number 450') }
    expect((await search('drink', { embedded }))[0]).toBe('tea number 450')
    expect(await search('drink', { embedded: { ...embedded, space: { ...space, id: 'other' } } })).toEqual([])
  })

  test('passes on the filters', async () => {
    const { replace, search } = await setIndexStage()
    await replace('manual', ['tea number 1', 'tea number 2'])
    expect(await search('tea', { sourceIds: ['nobody'] })).toEqual([])
    expect(await search('tea xylophone', { minScore: 0.9 })).toEqual([])
  })

  test('stops when it is told to, and what was found before stays', async () => {
    const { draft, store, replace, search } = await setIndexStage()
    await replace('manual', ['old tea'])
    await store(2000)
    const stop = new AbortController()
    const stopped = indexDraft({
      ...draft,
      signal: stop.signal,
      onProgress: async () => stop.abort(new Error('source deleted')),
    })
    await expect(stopped).rejects.toThrow('source deleted')
    expect(await search('tea')).toEqual(['old tea'])
  })

  test('answers searches that go to a thread together as it would answer each alone', async () => {
    const { replace, path, pool } = await setIndexStage()
    await replace('manual', ['tea with milk', 'coffee with sugar'])
    const { readers, begun } = watched(pool)
    const index = createSearchIndex({ readers, writers: pool })
    const search = async (text: string, options = {}) =>
      (await index.search(path, { text, limit: 10, ...options })).map(({ content }) => content)
    const vector = new Float32Array(3)
    const failing = { embedded: { space: { id: 'other', dimensions: 2, form: 'floats' }, vector } }
    const asked = [
      search('tea'),
      search('milk', failing),
      search('coffee', { sourceIds: ['manual'] }),
      search('rum'),
    ]
    expect(await Promise.allSettled(asked)).toEqual([
      { status: 'fulfilled', value: ['tea with milk'] },
      {
        status: 'rejected',
        reason: expect.objectContaining({ message: expect.stringContaining('dimensions') }),
      },
      { status: 'fulfilled', value: ['coffee with sugar'] },
      { status: 'fulfilled', value: [] },
    ])
    const texts = begun.map(({ searches }) => searches.map(({ query }) => query.text))
    // Since one of them fails, each is then asked alone.
    expect(texts).toEqual([['tea', 'milk', 'coffee', 'rum'], ['tea'], ['milk'], ['coffee'], ['rum']])
  })

  test('does not make the database of an agent that is not there', async () => {
    const { index, path } = await setIndexStage()
    const search = index.search(`${path}.gone`, { text: 'tea', limit: 1 })
    await expect(search).rejects.toThrow(/unable to open|does not exist/)
  })
})

test('a search begins after few of those that another agent has asked for before', async () => {
  const [busy, other] = [await setIndexStage(), await setIndexStage()]
  const { readers, begun } = watched(busy.pool)
  const index = createSearchIndex({ readers, writers: busy.pool })
  const paths = [...Array.from({ length: 30 }, () => busy.path), other.path]
  await Promise.all(paths.map(path => index.search(path, { text: 'tea', limit: 10 })))
  const inOrder = begun.flatMap(({ databasePath, searches }) => searches.map(() => databasePath))
  expect(inOrder).toHaveLength(31)
  expect(inOrder.indexOf(other.path)).toBeLessThanOrEqual(8)
})
