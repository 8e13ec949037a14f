import { onTestFinished } from 'vitest'
import { createLog } from '#platform/log.ts'
import type { OnOpen } from '#storage/agent-databases.ts'
import { createAgentDatabases } from '#storage/agent-databases.ts'
import type { StorageEngine } from '#storage/engine.ts'
import { openPlatformDatabase } from '#storage/platform-database.ts'

export interface DatabaseOptions {
  onOpen?: readonly OnOpen[]
  limit?: number
  grace?: number
}

/** Platform and agent databases of an engine, closed with it when the running test has finished. */
export async function databasesOn(engine: StorageEngine, options: DatabaseOptions = {}) {
  const log = createLog('silent')
  const platform = await openPlatformDatabase(engine)
  const agentDatabases = createAgentDatabases({ engine, platform, log, ...options })
  let closing: Promise<void> | undefined

  async function shut(): Promise<void> {
    await agentDatabases.close()
    await platform.destroy()
    await engine.close()
  }
  /** As at the end of the process; may be called early. */
  const close = () => (closing ??= shut())
  onTestFinished(close)

  return {
    engine,
    platform,
    agentDatabases,
    close,
    /** Adds the row that makes an agent. */
    async addAgent(id: string): Promise<void> {
      const time = '2026-01-01T00:00:00.000Z'
      const row = { id, name: id, name_key: id, description: '', status: 'active', settings: '{}' }
      await platform
        .insertInto('agents')
        .values({ ...row, created_at: time, updated_at: time })
        .execute()
    },
    async removeAgentRow(id: string): Promise<void> {
      await platform.deleteFrom('agents').where('id', '=', id).execute()
    },
  }
}
