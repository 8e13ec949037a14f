import { describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#platform/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { chunkOf, setSearchStage } from '#test/support/search-stage.ts'
import { createSearchIndex } from './search-index.ts'

async function setIndexStage() {
  const { path, addSource, db } = await setSearchStage()
  const pool = createWorkerPool({ log: createLog('silent') })
  onTestFinished(() => pool.close())
  const index = createSearchIndex({ readers: pool, writers: pool })
  await addSource('manual')
  const place = { databasePath: path, sourceId: 'manual', embedding: 'builtin/builtin' }
  const question = { databasePath: path, limit: 10, embedding: 'builtin/builtin' }
  const texts = (count: number) => Array.from({ length: count }, (_, at) => chunkOf(`tea number ${at}`))
  return { index, place, question, texts, db }
}

describe('an index in worker threads', () => {
  test('finds what was written, reports the progress and forgets what was removed', async () => {
    const { index, place, question, texts, db } = await setIndexStage()
    const progress: number[] = []
    const count = await index.replace({ ...place, chunks: texts(1100) }, undefined, share =>
      progress.push(share),
    )
    expect(count).toBe(1100)
    expect(progress).toEqual([512 / 1100, 1024 / 1100, 1])
    expect(await index.search({ ...question, query: 'number 777', limit: 1 })).toMatchObject([
      { source_id: 'manual', content: 'tea number 777', metadata: { source_name: 'manual.txt' } },
    ])
    const chunks = await db.selectFrom('chunks').select('id').execute()
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1100)

    await index.remove(place)
    expect(await index.search({ ...question, query: 'tea' })).toEqual([])
  })

  test("finds by a provider's vectors, whatever part they were written in", async () => {
    const { index, place, question, texts } = await setIndexStage()
    const chunks = texts(600)
    const vectors = chunks.map((_, at) => Float32Array.of(Math.cos(at / 400), Math.sin(at / 400)))
    const embedding = 'openai/small'
    await index.replace({ ...place, chunks, vectors, embedding })
    const queryVector = Float32Array.of(Math.cos(550 / 400), Math.sin(550 / 400))
    const [best] = await index.search({ ...question, query: 'drink', embedding, queryVector })
    expect(best?.content).toBe('tea number 550')
    expect(await index.search({ ...question, query: 'drink', embedding: 'other', queryVector })).toEqual([])
  })

  test('passes on the filters', async () => {
    const { index, place, question, texts } = await setIndexStage()
    await index.replace({ ...place, chunks: texts(3) })
    expect(await index.search({ ...question, query: 'tea', sourceId: 'nobody' })).toEqual([])
    expect(await index.search({ ...question, query: 'tea xylophone', minScore: 0.9 })).toEqual([])
  })

  test('stops when it is told to, and what was found before stays', async () => {
    const { index, place, question, texts } = await setIndexStage()
    await index.replace({ ...place, chunks: [chunkOf('old tea')] })
    const stop = new AbortController()
    const stopped = index.replace({ ...place, chunks: texts(2000) }, stop.signal, () =>
      stop.abort(new Error('source deleted')),
    )
    await expect(stopped).rejects.toThrow('source deleted')
    expect(await index.search({ ...question, query: 'tea' })).toMatchObject([{ content: 'old tea' }])
  })

  test('does not make the database of an agent that is not there', async () => {
    const { index, question } = await setIndexStage()
    const databasePath = `${question.databasePath}.gone`
    await expect(index.search({ ...question, databasePath, query: 'tea' })).rejects.toThrow(/unable to open/)
  })
})
