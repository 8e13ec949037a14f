import { onTestFinished } from 'vitest'
import { createLog } from '#platform/log.ts'
import type { OnOpen } from '#storage/agent-databases.ts'
import { createAgentDatabases } from '#storage/agent-databases.ts'
import { openPlatformDatabase } from '#storage/platform-database.ts'
import { openDataDirectory } from '#storage/sqlite/data-directory.ts'
import { createEngine } from '#storage/sqlite/engine.ts'
import { agentRows } from './agent-rows.ts'
import { temporaryDirectory } from './temporary-directory.ts'

interface Options {
  /** An existing data directory; a temporary one by default. */
  path?: string
  onOpen?: readonly OnOpen[]
  limit?: number
  grace?: number
}

/** Platform and agent databases in real files, closed when the running test has finished. */
export async function openEmbeddedStorage({ path = temporaryDirectory(), ...options }: Options = {}) {
  const log = createLog('silent')
  const directory = await openDataDirectory(path)
  const engine = createEngine({ directory, synchronous: 'normal' })
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
    path,
    engine,
    platform,
    agentDatabases,
    close,
    ...agentRows(platform),
  }
}
