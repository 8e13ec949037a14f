import { expect, test } from 'vitest'
import { createIndexWriter } from '#features/knowledge/indexing/index-writer.ts'
import { randomIds } from '#platform/ids.ts'
import { chunkOf } from '#test/support/chunk-rows.ts'
import { setSearchStage } from '#test/support/search-stage.ts'
import { searchEngine } from '../search-engine.ts'

test('of sources that are written at the same time, none has to be written anew', async () => {
  const { db, addSource, replace, search } = await setSearchStage()
  const sources = ['one', 'two']
  for (const source of sources) {
    await addSource(source)
    await replace(source, ['cup'])
  }
  let written = 0
  const areBothOpen = Promise.withResolvers<void>()
  const engine: typeof searchEngine = {
    ...searchEngine,
    async writeFullText(...texts) {
      await searchEngine.writeFullText(...texts)
      written += 1
      if (written === sources.length) areBothOpen.resolve()
      await areBothOpen.promise
    },
  }
  async function write(source: string): Promise<void> {
    const writer = createIndexWriter({ db: { db, engine }, ids: randomIds, attempt: `second of ${source}` })
    await writer.start(source)
    await writer.add(
      source,
      ['tea', 'coffee'].map(word => chunkOf(`${word} ${source}`)),
    )
    await writer.finish(source)
  }
  await Promise.all(sources.map(write))
  expect(written).toBe(sources.length)
  expect((await search('tea')).map(({ source_id }) => source_id).sort()).toEqual(sources)
})
