import { describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { createWorkerPool, type WorkerPool, type WorkerTask } from '#platform/workers/worker-pool.ts'
import { setSearchStage } from '#test/support/search-stage.ts'
import type { SearchTask } from './search.worker.ts'
import { createSearchIndex } from './search-index.ts'

async function setIndexStage() {
  const { path, addSource, replace } = await setSearchStage()
  const pool = createWorkerPool({ log: createLog('silent') })
  onTestFinished(() => pool.close())
  const index = createSearchIndex(pool)
  await addSource('manual')
  const search = async (text: string, options = {}) =>
    (await index.search(path, { text, limit: 10, ...options })).map(({ content }) => content)
  return { pool, index, replace, search, path }
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
  test('passes on the filters', async () => {
    const { replace, search } = await setIndexStage()
    await replace('manual', ['tea number 1', 'tea number 2'])
    expect(await search('tea', { sourceIds: ['nobody'] })).toEqual([])
    expect(await search('tea xylophone', { minScore: 0.9 })).toEqual([])
  })

  test('answers searches that go to a thread together as it would answer each alone', async () => {
    const { replace, path, pool } = await setIndexStage()
    await replace('manual', ['tea with milk', 'coffee with sugar'])
    const { readers, begun } = watched(pool)
    const index = createSearchIndex(readers)
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
  const index = createSearchIndex(readers)
  const paths = [...Array.from({ length: 30 }, () => busy.path), other.path]
  await Promise.all(paths.map(path => index.search(path, { text: 'tea', limit: 10 })))
  const inOrder = begun.flatMap(({ databasePath, searches }) => searches.map(() => databasePath))
  expect(inOrder).toHaveLength(31)
  expect(inOrder.indexOf(other.path)).toBeLessThanOrEqual(8)
})
