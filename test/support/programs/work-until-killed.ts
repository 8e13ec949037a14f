/**
 * Runs the jobs of agent `a` in the data directory of its first argument; adds as many of them as the second says.
 * Prints `added <n>` once the nth is stored, `begun <n>` and `counted <n>` from within its run, `idle` in the end.
 */
import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { systemClock } from '#platform/clock.ts'
import { randomIds } from '#platform/ids.ts'
import type { JobHandler } from '#platform/jobs/jobs.ts'
import { createJobRunner } from '#platform/jobs/runner.ts'
import { createWakeUps } from '#platform/jobs/sqlite/wake-ups.ts'
import { createTransact } from '#platform/jobs/transact.ts'
import { createLog } from '#platform/logging/log.ts'
import { type AgentHandle, createAgentDatabases } from '#storage/agent-databases.ts'
import { openPlatformDatabase } from '#storage/platform-database.ts'
import { openDataDirectory } from '#storage/sqlite/connections/data-directory.ts'
import { createEngine } from '#storage/sqlite/engine.ts'
import { createLeaseVoiding } from '#storage/sqlite/void-leases.ts'
import { wakeLostWork } from '#storage/wake-lost-work.ts'

const [path = '', jobs = '0'] = process.argv.slice(2)
const say = (line: string) => writeSync(1, `${line}\n`)

const instanceId = randomUUID()
const log = createLog('silent')
const engine = createEngine({ directory: await openDataDirectory(path), synchronous: 'normal' })
const platform = await openPlatformDatabase(engine)
const wakeUps = createWakeUps({ db: platform, clock: systemClock })
const onOpen = [createLeaseVoiding(instanceId), wakeLostWork(wakeUps)]
const agentDatabases = createAgentDatabases({ engine, platform, log, onOpen })

/** Counts its runs in the agent's database, under the number that is its payload. */
const count: JobHandler<AgentHandle> = {
  lane: 'documents',
  async run({ agent, payload }) {
    say(`begun ${payload}`)
    await agent.db
      .insertInto('agent_facts')
      .values({ name: String(payload), value: '1' })
      .onConflict(conflict => conflict.column('name').doUpdateSet({ value: 'more' }))
      .execute()
    say(`counted ${payload}`)
  },
}
const handlers = new Map([['count', count]])
const runner = createJobRunner<AgentHandle>({
  wakeUps,
  agentDatabases,
  handlers,
  clock: systemClock,
  log,
  instanceId,
  leaseMs: 1_000,
  calmMs: 50,
})
const abort = runner.abort.bind(runner)
const transact = createTransact({ wakeUps, clock: systemClock, ids: randomIds, log, abort, handlers })

const time = '2026-01-01T00:00:00.000Z'
const row = { id: 'a', name: 'A', name_key: 'a', description: '', status: 'active', settings: '{}' }
await platform
  .insertInto('agents')
  .values({ ...row, created_at: time, updated_at: time })
  .onConflict(conflict => conflict.doNothing())
  .execute()
await runner.start()
for (let number = 1; number <= Number(jobs); number++) {
  await agentDatabases.use('a', agent =>
    transact(agent, (_transaction, outbox) => outbox.add({ name: 'count', payload: number })),
  )
  say(`added ${number}`)
}
await runner.idle()
say('idle')
