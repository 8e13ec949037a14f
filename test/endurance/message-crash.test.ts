import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { laneLimits } from '#platform/jobs/lanes.ts'
import { seededRandom } from '../support/endurance.ts'
import { messageCount, messageCrashes, messageLoad } from '../support/message-load.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

it(`kill -9 at any time: each of ${messageCount} messages is answered once (${messageCrashes} times)`, async ({
  annotate,
}) => {
  const random = seededRandom(20_261_125)
  await using load = await messageLoad(random)
  const start = { dataDirectory: temporaryDirectory(), environment: load.environment }
  let server = await startServerProcess(start)
  await load.begin(server.call)
  const written = load.writeAll(() => server.url)
  for (let round = 0; round < messageCrashes; round += 1) {
    // Long enough for some messages to be collected and answered.
    await delay(1_500 + random() * 1_500)
    await server.kill()
    load.killed()
    server = await startServerProcess(start)
  }
  await written
  const repeated = await load.expectAllAnswered(server.call)
  await annotate(`${repeated} answers were sent twice`)
  // Those that were being sent when a process died: no more than an agent's jobs that run at a time.
  expect(repeated).toBeLessThanOrEqual(messageCrashes * laneLimits.turns.perAgent)
  await server.stop()
})
