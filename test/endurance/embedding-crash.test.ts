import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { embedBy, startEmbeddingServer, untilReady, uploadChunks } from '../support/embedding-server.ts'
import { crashRounds, seededRandom } from '../support/endurance.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const chunks = 600
/** Chunks that may be embedded again after a crash: one part of the work. */
const part = 192

describe('kill -9 while sources are embedded anew', () => {
  it(`is made good by the next start, without a text too many (${crashRounds} times)`, async () => {
    const dataDirectory = temporaryDirectory()
    const random = seededRandom(20261121)
    await using provider = await startEmbeddingServer(60)
    const start = () => startServerProcess({ dataDirectory, environment: provider.environment })
    {
      await using server = await start()
      await uploadChunks(server, 'first', chunks)
      await uploadChunks(server, 'second', 3)
      await untilReady(server, 2)
    }
    for (let round = 1; round <= crashRounds; round += 1) {
      const model = `model-${round}`
      const dying = await start()
      await embedBy(dying, model)
      await delay(random() * 600)
      await dying.kill()
      await using server = await start()
      await untilReady(server, 2)
      const texts = provider.textsOf(model)
      expect(new Set(texts).size).toBe(chunks + 3)
      expect(texts.length).toBeLessThanOrEqual(chunks + 3 + part)
    }
  })
})
