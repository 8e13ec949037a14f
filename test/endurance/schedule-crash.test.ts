import { setTimeout as delay } from 'node:timers/promises'
import { it } from 'vitest'
import { seededRandom } from '../support/endurance.ts'
import { scheduleCrashes, scheduleLoad } from '../support/schedule-load.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

it(`kill -9 at any time: every schedule runs once (${scheduleCrashes} times)`, async () => {
  const random = seededRandom(20_261_124)
  await using load = await scheduleLoad(random)
  const dataDirectory = temporaryDirectory()
  const environment = { OUTBOUND_ALLOW: '127.0.0.1' }
  for (let round = 0; round < scheduleCrashes; round += 1) {
    const server = await startServerProcess({ dataDirectory, environment })
    const worked = load.work(server.call)
    await delay(random() * 2_500)
    await server.kill()
    await worked
  }
  await using server = await startServerProcess({ dataDirectory, environment })
  await load.expectEachOnce(server.call)
})
