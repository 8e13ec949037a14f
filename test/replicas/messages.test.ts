import { setTimeout as delay } from 'node:timers/promises'
import { it } from 'vitest'
import { seededRandom } from '../support/endurance.ts'
import { messageCount, messageCrashes, messageLoad } from '../support/message-load.ts'
import { startReplicas } from '../support/replica-set.ts'

it(`each of ${messageCount} messages is answered once, while replicas are killed (${messageCrashes} times)`, async () => {
  const random = seededRandom(20_261_125)
  await using load = await messageLoad(random)
  await using replicas = await startReplicas(3, load.environment)
  await load.begin(replicas.any().call)
  const written = load.writeAll(() => replicas.any().url)
  for (let round = 0; round < messageCrashes; round += 1) {
    await delay(1_500 + random() * 1_500)
    await replicas.at(round).kill()
    load.killed()
    await replicas.replace(round)
  }
  await written
  await load.expectAllAnswered(replicas.any().call)
})
