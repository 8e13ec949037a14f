import { problemError } from '../problem.ts'
import type { SqlRunner } from '../sql-runner.ts'
import { parameterProblem, readStatement } from '../statement.ts'
import { describe } from './describe.ts'
import type { PoolOptions } from './pool.ts'
import { createPool } from './pool.ts'

export function createSqlRunner(options: PoolOptions): SqlRunner {
  const pool = createPool(options)
  const watched = new WeakSet<AbortSignal>()
  /** Who deletes the agent must find its file closed, also by processes that rest. */
  function watch(path: string, signal: AbortSignal): void {
    if (watched.has(signal)) return
    watched.add(signal)
    signal.addEventListener('abort', () => pool.leave(path, signal.reason), { once: true })
  }
  return {
    describe: ({ db }) => describe(db),
    async run({ path, signal: agentSignal }, given, signal) {
      const statement = readStatement(given.query, 'sqlite')
      if ('message' in statement) throw problemError(statement)
      const problem = parameterProblem(statement, given.parameters)
      if (problem !== undefined) throw problemError(problem)
      watch(path, agentSignal)
      return await pool.run(path, given, signal === undefined ? [agentSignal] : [agentSignal, signal])
    },
    async close() {
      pool.close()
    },
  }
}
