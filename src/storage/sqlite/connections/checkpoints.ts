import type { Log } from '#platform/logging/log.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'

const file = new URL('./checkpoint.worker.ts', import.meta.url)

/** The number of writing statements after which a log is checkpointed; as a rule of thumb, each writes two pages of 4 KiB. */
const statementsBetween = 500
/** Bytes written that fill the pages of one more statement. */
const bytesPerStatement = 8 * 1024

/** Keeps the write-ahead log of one open database short. */
export interface Checkpointer {
  /** Called for each statement that writes, with its parameters. */
  wrote(parameters: readonly unknown[]): void
  /** Shrinks the file after rows were deleted. */
  shrink(): Promise<void>
  /** Resolves when no other thread has the database open for this. */
  settled(): Promise<void>
}

/**
 * Checkpoints the write-ahead logs of databases in a thread of `workers`. SQLite would do so during a commit every now
 * and then, and wait for the disk: that takes milliseconds, but seconds on a busy disk, which a thread that serves
 * requests cannot afford.
 */
export function createCheckpoints(workers: WorkerPool, log: Log): (path: string) => Checkpointer {
  return path => {
    let statements = 0
    let running: Promise<void> | undefined

    async function run(name: 'moveLog' | 'giveBack'): Promise<void> {
      try {
        await workers.run({ file, name, argument: path })
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
        running = run('moveLog')
      },
      async shrink() {
        while (running !== undefined) await running
        running = run('giveBack')
        await running
      },
      settled: async () => running,
    }
  }
}

/** The approximate size of texts and bytes; other values take next to nothing. */
function sizeOf(parameters: readonly unknown[]): number {
  let size = 0
  for (const parameter of parameters)
    if (typeof parameter === 'string') size += parameter.length
    else if (ArrayBuffer.isView(parameter)) size += parameter.byteLength
  return size
}
