import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { seededRandom } from '../support/endurance.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { webhookCrashes, webhookLoad, webhookProgram } from '../support/webhook-load.ts'

it(`kill -9 at any time: an event leaves if and only if it is stored (${webhookCrashes} times)`, async () => {
  const random = seededRandom(20_261_124)
  await using load = await webhookLoad(random)
  const dataDirectory = temporaryDirectory()
  const environment = { OUTBOUND_ALLOW: '127.0.0.1' }
  let verified = 0
  for (let round = 0; round < webhookCrashes; round += 1) {
    const server = await startServerProcess({ dataDirectory, environment, program: webhookProgram })
    if (round === 0) await load.begin(server.call)
    const sent = load.send(() => server.call)
    // However slow the machine is, each round has something to lose.
    await sent.answered
    await delay(random() * 800)
    await server.kill()
    await sent.ended
    verified = load.verifyNew(verified)
  }
  await using server = await startServerProcess({ dataDirectory, environment })
  await load.expectAllDelivered(server.call)
  expect(load.verifyNew(verified)).toBeGreaterThan(verified)
})
