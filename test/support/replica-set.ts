import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import { makeTemporaryDirectory } from './temporary-directory.ts'

/** One that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Processes of the service that share a database. */
export interface ReplicaSet extends AsyncDisposable {
  /** Counted round and round. */
  at(index: number): ServerProcess
  /** One after the other. */
  any(): ServerProcess
  /** Starts a process in the place of one that has ended. */
  replace(index: number): Promise<void>
}

/** @param environment of all, or of each, given its place and its address. */
export async function startReplicas(
  count: number,
  environment: Record<string, string> | ((index: number, url: string) => Record<string, string>),
  program?: string,
): Promise<ReplicaSet> {
  const directory = makeTemporaryDirectory()
  const shared = { ENCRYPTION_KEY: randomBytes(32).toString('base64') }
  const start = async (index: number) => {
    const Port = String(typeof environment === 'function' ? await freePort() : 0)
    const own =
      typeof environment === 'function' ? environment(index, `http://127.0.0.1:${Port}`) : environment
    const variables = { ...shared, PORT: Port, ...own }
    return await startServerProcess({ dataDirectory: directory.path, environment: variables, program })
  }
  // All at once, as an orchestrator starts them on an empty database.
  const servers = await Promise.all(Array.from({ length: count }, (_, index) => start(index)))
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
      servers[index % count] = await start(index % count)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map(server => server[Symbol.asyncDispose]()))
      directory.remove()
    },
  }
}
