import { setTimeout as delay } from 'node:timers/promises'
import { it } from 'vitest'
import { seededRandom } from '../support/endurance.ts'
import { startReplicas } from '../support/replica-set.ts'
import { scheduleCrashes, scheduleLoad } from '../support/schedule-load.ts'

it(`every schedule runs once, while replicas are killed (${scheduleCrashes} times)`, async () => {
  const random = seededRandom(20_261_124)
  await using load = await scheduleLoad(random)
  await using replicas = await startReplicas(3, { OUTBOUND_ALLOW: '127.0.0.1', LEASE_SECONDS: '5' })
  for (let round = 0; round < scheduleCrashes; round += 1) {
    const worked = Promise.all([0, 1, 2].map(index => load.work(replicas.at(index).call)))
    await delay(random() * 2_500)
    await replicas.at(round).kill()
    await worked
    await replicas.replace(round)
  }
  await load.expectEachOnce(replicas.any().call)
})
