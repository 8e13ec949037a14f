import { onTestFinished } from 'vitest'
import { createLog } from '#platform/log.ts'
import { createAgentDatabases } from '#storage/agent-databases.ts'
import { openPlatformDatabase } from '#storage/platform-database.ts'
import { createEngine } from '#storage/postgres/engine.ts'

/** Platform and agent databases of one process on PostgreSQL, closed when the running test has finished. */
export async function openPostgresStorage(url: string) {
  const log = createLog('silent')
  const engine = createEngine({ url, maxConnections: 6, onError: () => {} })
  const platform = await openPlatformDatabase(engine)
  const agentDatabases = createAgentDatabases({ engine, platform, log })
  onTestFinished(async () => {
    await agentDatabases.close()
    await platform.destroy()
    await engine.close()
  })
  return { engine, platform, agentDatabases }
}
