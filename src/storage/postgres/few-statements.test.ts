import type { KyselyPlugin } from 'kysely'
import { expect, test } from 'vitest'
import { createIndexWriter } from '#features/knowledge/indexing/index-writer.ts'
import { randomIds } from '#platform/ids.ts'
import { chunkOf } from '#test/support/chunk-rows.ts'
import { setSearchStage } from '#test/support/search-stage.ts'
import { searchEngine as engine } from './search-engine.ts'

test('chunks are written many at a time, since each statement waits for the server', async () => {
  const { db, addSource, search } = await setSearchStage()
  await addSource('manual')
  let statements = 0
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      statements += 1
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const database = { db: db.withPlugin(counting), engine }
  const writer = createIndexWriter({ db: database, ids: randomIds, attempt: 'first' })
  await writer.start('manual')
  const chunks = Array.from({ length: 256 }, (_, at) => chunkOf(`tea number${at}`))
  statements = 0
  await writer.add('manual', chunks)
  expect(statements).toBeLessThan(chunks.length / 2)
  await writer.finish('manual')
  expect((await search('number200')).map(({ content }) => content)).toContain('tea number200')
})
