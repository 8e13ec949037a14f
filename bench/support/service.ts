import { setTimeout as delay } from 'node:timers/promises'
import manifest from '../../package.json' with { type: 'json' }
import { makeDataDirectory } from './data-directory.ts'
import { makeDatabase } from './database.ts'
import { type Program, startProgram } from './program.ts'

interface ServiceOptions {
  /** Where its data lies; by default a folder of its own, or an empty database where one is to be measured. */
  dataDirectory?: string
  environment?: Record<string, string>
  /** The tree of another commit, with its packages; by default this one. */
  root?: string
}

/** What `npm start` runs, without the shell. */
const startParameters = manifest.scripts.start.split(' ').slice(2)

const quiet = {
  LOG_LEVEL: 'warn',
  PORT: '0',
  RATE_LIMIT_GENERAL: '0',
  RATE_LIMIT_CHAT: '0',
  RATE_LIMIT_BROWSER: '0',
  RATE_LIMIT_BULK: '0',
}

/** Starts the service as an operator does, on a free port of this machine and without rate limits. */
export async function startService({
  dataDirectory,
  environment,
  root,
}: ServiceOptions = {}): Promise<Program> {
  const database = dataDirectory === undefined ? await makeDatabase() : undefined
  const storage = {
    DATA_DIR: dataDirectory ?? makeDataDirectory(),
    ...(database !== undefined && { DATABASE_URL: database }),
  }
  return await startProgram({
    parameters: startParameters,
    environment: { ...quiet, ...storage, ...environment },
    ...(root !== undefined && { root }),
  })
}

/** Sends a request and reads its answer as JSON; `Body` is what the caller takes it for. Fails unless it succeeds. */
export async function call<Body>(address: string, request: RequestInit = {}): Promise<Body> {
  const response = await fetch(address, request)
  if (!response.ok) throw new Error(`${address} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Body
}

/** Uploads a text to the agent `default`; the id of the source that it becomes. */
export async function uploadText(service: Program, name: string, text: string): Promise<string> {
  const body = new FormData()
  body.set('type', 'file')
  body.set('file', new Blob([text]), `${name}.txt`)
  const { id } = await call<{ id: string }>(sourcesOf(service), { method: 'POST', body })
  return id
}

/** Waits until a source is processed; the number of its chunks. */
export async function untilReady(service: Program, sourceId: string): Promise<number> {
  for (;;) {
    const source = await call<{ status: string; chunks?: number; error?: string }>(
      `${sourcesOf(service)}/${sourceId}`,
    )
    if (source.status === 'error') throw new Error(source.error)
    if (source.status === 'ready') return source.chunks ?? 0
    await delay(50)
  }
}

/** The address of the sources of the agent `default`. */
export function sourcesOf({ address }: Program): string {
  return `${address}/api/agents/default/sources`
}
