import { randomBytes } from 'node:crypto'
import type { ServerProcess } from './server-process.ts'
import { startServerProcess } from './server-process.ts'
import { makeTemporaryDirectory } from './temporary-directory.ts'

/** Processes of the service that share a database. */
export interface ReplicaSet extends AsyncDisposable {
  /** Counted round and round. */
  at(index: number): ServerProcess
  /** One after the other. */
  any(): ServerProcess
  /** Starts a process in the place of one that has ended. */
  replace(index: number): Promise<void>
}

export async function startReplicas(
  count: number,
  environment: Record<string, string>,
  program?: string,
): Promise<ReplicaSet> {
  const directory = makeTemporaryDirectory()
  const start = () => startServerProcess({ dataDirectory: directory.path, environment: shared, program })
  const shared = { ENCRYPTION_KEY: randomBytes(32).toString('base64'), ...environment }
  // All at once, as an orchestrator starts them on an empty database.
  const servers = await Promise.all(Array.from({ length: count }, start))
  let next = 0

  function at(index: number): ServerProcess {
    const server = servers[index % count]
    if (server === undefined) throw new Error('there is no replica')
    return server
  }

  return {
    at,
    any: () => at(next++),
    async replace(index) {
      servers[index % count] = await start()
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map(server => server[Symbol.asyncDispose]()))
      directory.remove()
    },
  }
}
