import { it } from 'vitest'
import { isFullEndurance } from '../support/endurance.ts'
import { poisonLoad } from '../support/poison-load.ts'
import { startReplicas } from '../support/replica-set.ts'

const count = 3

// In small, `src/platform/jobs/poison.test.ts` shows it in seconds.
it.runIf(isFullEndurance)(
  'jobs that kill replicas are given up after four starts, and all others end as they should',
  async () => {
    await using replicas = await startReplicas(count, { OUTBOUND_ALLOW: '127.0.0.1', LEASE_SECONDS: '5' })
    const places = Array.from({ length: count }, (_, place) => place)
    using load = await poisonLoad(() => places.map(place => replicas.at(place).process.pid ?? 0))
    let isOver = false
    const supervised = places.map(async place => {
      for (;;) {
        await replicas.at(place).ended
        if (isOver) return
        await replicas.replace(place)
      }
    })
    await load.begin(() => replicas.any().call)
    await load.expectEnds(() => replicas.any().call)
    isOver = true
    await Promise.all(places.map(place => replicas.at(place).stop()))
    await Promise.all(supervised)
  },
)
