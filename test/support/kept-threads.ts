/** Worker threads that outlive the app they were started for: to start them takes longer than most tests. */
import { AppError } from '#platform/errors.ts'
import {
  type CreateWorkerPool,
  createWorkerPool,
  type WorkerPool,
  type WorkerTask,
} from '#platform/workers/worker-pool.ts'

const kept = new Map<string, WorkerPool>()

/**
 * A pool on the threads that this process keeps for pools of the same options; closing it ends what it runs, not them.
 * What is allowed more memory than usual loads things that no other app is to find there, and has threads of its own.
 */
export const keptThreads: CreateWorkerPool = options => {
  const { log, ...rest } = options
  if (rest.memoryLimitMb !== undefined) return createWorkerPool(options)
  const key = JSON.stringify(rest)
  const pool = kept.get(key) ?? createWorkerPool(options)
  kept.set(key, pool)
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    async run<Result>(task: WorkerTask): Promise<Result> {
      const signal = AbortSignal.any([closing.signal, ...(task.signal === undefined ? [] : [task.signal])])
      const result = pool.run<Result>({ ...task, signal })
      running.add(result)
      return await result.finally(() => running.delete(result))
    },
    async close() {
      closing.abort(new AppError('SHUTTING_DOWN', 'The server is shutting down; try again in a moment.'))
      await Promise.allSettled(running)
    },
  }
}
