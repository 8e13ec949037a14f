import type { Log } from '#platform/log.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'

const file = new URL('./checkpoint.worker.ts', import.meta.url)

/** Writing statements after which a log is moved: by a rule of thumb, two pages of 4 KiB each. */
const statementsBetween = 500
/** Of what is written: so much fills the pages of one more statement. */
const bytesPerStatement = 8 * 1024

/** Keeps the write-ahead log of one open database short. */
export interface LogKeeper {
  /** To be told of each statement that writes, and of its parameters. */
  wrote(parameters: readonly unknown[]): void
  /** Resolves when no other thread has the database open for this. */
  settled(): Promise<void>
}

/**
 * Moves what the write-ahead logs of databases hold into the databases themselves, in a thread of `workers`. SQLite would
 * do so within a commit every now and then, and wait for the disk: milliseconds, but seconds on a busy one, for which a
 * thread that serves requests has no time.
 */
export function createCheckpoints(workers: WorkerPool, log: Log): (path: string) => LogKeeper {
  return path => {
    let statements = 0
    let running: Promise<void> | undefined

    async function move(): Promise<void> {
      try {
        await workers.run({ file, name: 'moveLog', argument: path })
      } catch (error) {
        log.warn({ err: error, path }, 'moving a write-ahead log into its database failed; it is tried again')
      } finally {
        running = undefined
      }
    }

    return {
      wrote(parameters) {
        statements += 1 + Math.floor(sizeOf(parameters) / bytesPerStatement)
        if (statements < statementsBetween || running !== undefined) return
        statements = 0
        running = move()
      },
      settled: async () => running,
    }
  }
}

/** Of texts and bytes, by and large; what else there is has next to none. */
function sizeOf(parameters: readonly unknown[]): number {
  let size = 0
  for (const parameter of parameters)
    if (typeof parameter === 'string') size += parameter.length
    else if (ArrayBuffer.isView(parameter)) size += parameter.byteLength
  return size
}
