import { setTimeout as delay } from 'node:timers/promises'
import { it } from 'vitest'
import { seededRandom } from '../support/endurance.ts'
import { executionCrashes, executionLoad } from '../support/execution-load.ts'
import { startReplicas } from '../support/replica-set.ts'

it(`executions reach their true end while replicas are killed, and no recorded node runs again (${executionCrashes} times)`, async () => {
  const random = seededRandom(20_261_126)
  using load = await executionLoad(random)
  await using replicas = await startReplicas(3, { OUTBOUND_ALLOW: '127.0.0.1', LEASE_SECONDS: '5' })
  await load.begin(replicas.any().call)
  const starts: Promise<void>[] = []
  for (let round = 0; round < executionCrashes; round += 1) {
    // While one starts, another is killed: at least one lives on.
    await starts[round - 2]
    const sent = load.send(() => replicas.at(round).call)
    await sent.begun
    await delay(random() * 800)
    await replicas.at(round).kill()
    await sent.ended
    starts.push(replicas.replace(round))
  }
  await Promise.all(starts)
  await load.expectTrueEnds(replicas.any().call)
})
