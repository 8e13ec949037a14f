import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { seededRandom } from '../support/endurance.ts'
import { startReplicas } from '../support/replica-set.ts'
import { webhookCrashes, webhookLoad, webhookProgram } from '../support/webhook-load.ts'

it(`an event leaves if and only if it is stored, while replicas are killed (${webhookCrashes} times)`, async () => {
  const random = seededRandom(20_261_124)
  await using load = await webhookLoad(random)
  const environment = { OUTBOUND_ALLOW: '127.0.0.1', LEASE_SECONDS: '5' }
  await using replicas = await startReplicas(3, environment, webhookProgram)
  await load.begin(replicas.any().call)
  let verified = 0
  for (let round = 0; round < webhookCrashes; round += 1) {
    const sent = load.send(() => replicas.at(round).call)
    // However slow the machine is, each round has something to lose.
    await sent.answered
    await delay(random() * 800)
    await replicas.at(round).kill()
    await sent.ended
    await replicas.replace(round)
    verified = load.verifyNew(verified)
  }
  await load.expectAllDelivered(replicas.any().call)
  expect(load.verifyNew(verified)).toBeGreaterThan(0)
})
