/**
 * Runs the jobs of agent `a` in the data directory, or the PostgreSQL database, of its first argument, until none is due; adds as
 * many as the second says, and one before them that kills the process. Stores a fact for each run of that, `poison …`, for
 * its end as failed, `failed …`, and for each of the others, `note …`.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '#platform/clock.ts'
import { randomIds } from '#platform/ids.ts'
import type { JobHandler } from '#platform/jobs/jobs.ts'
import { byLane } from '#platform/jobs/lanes.ts'
import { createWakeUps as createSharedWakeUps } from '#platform/jobs/postgres/wake-ups.ts'
import { createJobRunner } from '#platform/jobs/runner.ts'
import { createWakeUps } from '#platform/jobs/sqlite/wake-ups.ts'
import { createTransact } from '#platform/jobs/transact.ts'
import { createLog } from '#platform/logging/log.ts'
import { type AgentHandle, createAgentDatabases } from '#storage/agent-databases.ts'
import { openPlatformDatabase } from '#storage/platform-database.ts'
import { createEngine as createPostgresEngine } from '#storage/postgres/engine.ts'
import { openDataDirectory } from '#storage/sqlite/connections/data-directory.ts'
import { createEngine } from '#storage/sqlite/engine.ts'
import { createLeaseVoiding } from '#storage/sqlite/void-leases.ts'
import { wakeLostWork } from '#storage/wake-lost-work.ts'

const [place = '', jobs = '0'] = process.argv.slice(2)
const clock = systemClock
const log = createLog('silent')
const instanceId = randomUUID()
const url = place.startsWith('postgres') ? place : undefined

async function open() {
  if (url === undefined) {
    const engine = createEngine({ directory: await openDataDirectory(place), synchronous: 'normal' })
    const platform = await openPlatformDatabase(engine)
    return { engine, platform, wakeUps: createWakeUps({ db: platform, clock }) }
  }
  const engine = createPostgresEngine({ url, maxConnections: 6, onError: () => {} })
  const platform = await openPlatformDatabase(engine)
  return { engine, platform, wakeUps: await createSharedWakeUps({ database: engine.direct, clock, log }) }
}

const { engine, platform, wakeUps } = await open()
const onOpen = [...(url === undefined ? [createLeaseVoiding(instanceId)] : []), wakeLostWork(wakeUps)]
const agentDatabases = createAgentDatabases({ engine, platform, log, onOpen })

async function note({ db }: AgentHandle, name: string): Promise<void> {
  await db.insertInto('agent_facts').values({ name, value: '1' }).execute()
}

const handlers = new Map<string, JobHandler<AgentHandle>>([
  [
    'note',
    {
      lane: 'documents',
      async run({ agent, payload }) {
        await delay(300)
        await note(agent, `note ${payload}`)
      },
    },
  ],
  [
    'poison',
    {
      lane: 'turns',
      async run({ agent }) {
        await note(agent, `poison ${randomUUID()}`)
        process.kill(process.pid, 'SIGKILL')
        await delay(60_000)
      },
      onFailed: ({ agent }, error) => note(agent, `failed ${error}`),
    },
  ],
])
const limits = byLane(() => ({ concurrency: 8, perAgent: 8 }))
const runner = createJobRunner<AgentHandle>({
  wakeUps,
  agentDatabases,
  handlers,
  clock,
  log,
  instanceId,
  limits,
  leaseMs: 1_000,
  calmMs: 50,
})
const abort = runner.abort.bind(runner)
const transact = createTransact({ wakeUps, clock, ids: randomIds, log, abort, handlers })
await agentDatabases.use('a', agent =>
  transact(agent, async (_transaction, outbox) => {
    if (jobs !== '0') await outbox.add({ name: 'poison', payload: null })
    for (let number = 1; number <= Number(jobs); number += 1)
      await outbox.add({ name: 'note', payload: number })
  }),
)
await runner.start()
await runner.idle()
// Returns a job that was leased meanwhile: a start that never was does not count.
await runner.stop(1_000)
process.exit()
