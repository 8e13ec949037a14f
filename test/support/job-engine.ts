import { onTestFinished } from 'vitest'
import type { Clock } from '#platform/clock.ts'
import type { ByLane } from '#platform/jobs/lanes.ts'
import { createWakeUps as createEmbeddedWakeUps } from '#platform/jobs/sqlite/wake-ups.ts'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { StorageEngine } from '#storage/engine.ts'
import { agentRows } from './agent-rows.ts'
import { openEmbeddedStorage } from './embedded-storage.ts'
import { createTestDatabase } from './postgres/databases.ts'
import { openPostgresStorage } from './postgres/storage.ts'
import { openSharedWakeUps, sharedWakeUpRows } from './postgres/wake-ups.ts'

/** What jobs stand on, of the engine that the tests run for. */
export interface JobEngine extends ReturnType<typeof agentRows> {
  agentDatabases: AgentDatabases
  /** As another process opens them. */
  newWakeUps(): Promise<ByLane<WakeUps>>
  /** A connection of its own to the agent's database; the caller destroys it. */
  openAgent: StorageEngine['openAgent']
  wakeUpRows(): Promise<WakeUpRow[]>
  /** Wake-ups that outlive the transactions for which they were stored, for a while, are among them. */
  allWakeUpRows(): Promise<WakeUpRow[]>
}

interface WakeUpRow {
  agent_id: string
  due_at: string
}

export async function openJobEngine(clock: Clock): Promise<JobEngine> {
  const database = await createTestDatabase()
  if (database === undefined) return await openEmbeddedEngine(clock)
  onTestFinished(database.remove)
  return await openPostgresEngine(database.url, clock)
}

async function openEmbeddedEngine(clock: Clock): Promise<JobEngine> {
  const { engine, platform, agentDatabases } = await openEmbeddedStorage()
  const wakeUpRows = () =>
    platform.selectFrom('wake_ups').select(['agent_id', 'due_at']).orderBy('agent_id').execute()
  return {
    ...agentRows(platform),
    agentDatabases,
    openAgent: engine.openAgent,
    newWakeUps: async () => createEmbeddedWakeUps({ db: platform, clock }),
    wakeUpRows,
    allWakeUpRows: wakeUpRows,
  }
}

/** One process on the database at `url`, which others may use at the same time. */
export async function openPostgresEngine(url: string, clock: Clock): Promise<JobEngine> {
  const { engine, platform, agentDatabases } = await openPostgresStorage(url)
  const { direct } = engine
  return {
    ...agentRows(platform),
    agentDatabases,
    openAgent: engine.openAgent,
    async newWakeUps() {
      const wakeUps = await openSharedWakeUps({ url, direct, clock })
      onTestFinished(async () => {
        for (const each of Object.values(wakeUps)) await each.stop()
      })
      return wakeUps
    },
    wakeUpRows: () => sharedWakeUpRows(direct, "not data ? 'covers'"),
    allWakeUpRows: () => sharedWakeUpRows(direct),
  }
}
