import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { chunkOf } from '#test/support/chunk-rows.ts'
import { setSearchStage } from '#test/support/search-stage.ts'
import { storeDraft } from './drafts.service.ts'
import { createIndexing, newRun, type Replacement } from './indexing.service.ts'
import { createSearchIndex } from './search/search-index.ts'

async function setIndexingStage() {
  const { path, addSource, replace: replaceAtOnce, db } = await setSearchStage()
  const pool = createWorkerPool({ log: createLog('silent') })
  onTestFinished(() => pool.close())
  const indexing = createIndexing(pool)
  const index = createSearchIndex(pool)
  await addSource('manual')
  const { signal } = new AbortController()
  const replace = (count: number, changes: Partial<Replacement> = {}) =>
    indexing.replace({
      run: newRun({ path }, 'manual'),
      db,
      model: { provider: 'builtin', id: 'builtin-1' },
      content: `${count} sentences`,
      async draft(task) {
        const chunks = Array.from({ length: count }, (_, at) => chunkOf(`tea number ${at}`))
        await storeDraft(task, chunks)
        return undefined
      },
      signal,
      ...changes,
    })
  const search = async (text: string, options = {}) =>
    (await index.search(path, { text, limit: 10, ...options })).map(({ content }) => content)
  const remove = () => indexing.remove(newRun({ path }, 'manual'), signal)
  return { replace, replaceAtOnce, search, remove }
}

test('what was written is found, its progress is reported, and what was removed is forgotten', async () => {
  const { replace, search, remove } = await setIndexingStage()
  const progress: number[] = []
  expect(await replace(1100, { onProgress: async share => void progress.push(share) })).toBe(1100)
  expect(progress).toEqual([0.2, 0.2 + (512 / 1100) * 0.8, 0.2 + (1024 / 1100) * 0.8, 1])
  expect(await search('number 777', { limit: 1 })).toEqual(['tea number 777'])
  await remove()
  expect(await search('tea')).toEqual([])
})

test('a document that cannot be cut leaves what was found before', async () => {
  const { replace, replaceAtOnce, search } = await setIndexingStage()
  await replaceAtOnce('manual', ['old tea'])
  expect(await replace(1, { draft: async () => 'It is damaged.' })).toBe('It is damaged.')
  expect(await search('tea')).toEqual(['old tea'])
})

test('a provider is asked for vectors part by part, from where an attempt failed', async () => {
  const { replace, search } = await setIndexingStage()
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
  await expect(replace(500, { model })).rejects.toThrow('overloaded')
  const draft = () => Promise.reject(new Error('the chunks are stored already'))
  expect(await replace(500, { model, draft })).toBe(500)
  expect(asked.map(({ length }) => length)).toEqual([192, 192, 192, 116])
  expect(new Set(asked.flat()).size).toBe(500)
  expect(asked[2]).toEqual(asked[1])
  const space = { id: 'openai/small', dimensions: 2, form: 'floats' }
  const embedded = { space, vector: vectorOf('number 450') }
  expect((await search('drink', { embedded }))[0]).toBe('tea number 450')
  expect(await search('drink', { embedded: { ...embedded, space: { ...space, id: 'other' } } })).toEqual([])
})

test('indexing stops when it is told to, and what was found before stays', async () => {
  const { replace, replaceAtOnce, search } = await setIndexingStage()
  await replaceAtOnce('manual', ['old tea'])
  const stop = new AbortController()
  const stopped = replace(2000, {
    signal: stop.signal,
    onProgress: async () => stop.abort(new Error('source deleted')),
  })
  await expect(stopped).rejects.toThrow('source deleted')
  expect(await search('tea')).toEqual(['old tea'])
})
