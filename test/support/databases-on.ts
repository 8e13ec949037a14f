import { onTestFinished } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { createAgentDatabases, type OnOpen } from '#storage/agent-databases.ts'
import type { StorageEngine } from '#storage/engine.ts'
import { openPlatformDatabase } from '#storage/platform-database.ts'
import { agentRows } from './agent-rows.ts'

/** Takes what is to be done once nobody needs a thing any more. */
export type OnEnd = (end: () => void | Promise<void>) => void

export interface DatabaseOptions {
  /** By default that is when the running test has finished. */
  onEnd?: OnEnd
  onOpen?: readonly OnOpen[]
  limit?: number
  grace?: number
}

/** Platform and agent databases of an engine, closed with it in the end. */
export async function databasesOn<Engine extends StorageEngine>(
  engine: Engine,
  { onEnd = onTestFinished, ...options }: DatabaseOptions = {},
) {
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
  onEnd(close)

  return {
    engine,
    platform,
    agentDatabases,
    close,
    ...agentRows(platform),
  }
}
