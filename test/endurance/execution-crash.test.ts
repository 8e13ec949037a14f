import { setTimeout as delay } from 'node:timers/promises'
import { it } from 'vitest'
import { seededRandom } from '../support/endurance.ts'
import { executionCrashes, executionLoad } from '../support/execution-load.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

it(`kill -9 at any time: executions reach their true end, and no recorded node runs again (${executionCrashes} times)`, async () => {
  const random = seededRandom(20_261_125)
  using load = await executionLoad(random)
  const dataDirectory = temporaryDirectory()
  const environment = { OUTBOUND_ALLOW: '127.0.0.1' }
  for (let round = 0; round < executionCrashes; round += 1) {
    const server = await startServerProcess({ dataDirectory, environment })
    if (round === 0) await load.begin(server.call)
    const sent = load.send(() => server.call)
    await sent.begun
    await delay(random() * 800)
    await server.kill()
    await sent.ended
  }
  await using server = await startServerProcess({ dataDirectory, environment })
  await load.expectTrueEnds(server.call)
})
