import { problemError } from '../problem.ts'
import type { SqlRunner } from '../sql-runner.ts'
import { mayWrite, readStatement, type Statement, usageProblem } from '../statement.ts'
import { describe } from './describe.ts'
import { createPool, type PoolOptions } from './pool.ts'

interface SqliteRunner extends SqlRunner {
  /** Stops writes that keep the service itself from this database. */
  giveWay(path: string): void
}

export function createSqlRunner(options: PoolOptions): SqliteRunner {
  const pool = createPool(options)
  const watched = new WeakSet<AbortSignal>()
  /** Closes the file of a deleted agent in all processes, even in idle ones. */
  function watch(path: string, signal: AbortSignal): void {
    if (watched.has(signal)) return
    watched.add(signal)
    signal.addEventListener('abort', () => pool.leave(path, signal.reason), { once: true })
  }
  return {
    describe: ({ db }) => describe(db),
    async run({ path, signal: agentSignal }, given, signal) {
      const statement = readStatement(given.query, 'sqlite', given.onlySelect)
      if ('message' in statement) throw problemError(statement)
      const problem = usageProblem(statement, given)
      if (problem !== undefined) throw problemError(problem)
      watch(path, agentSignal)
      const signals = signal === undefined ? [agentSignal] : [agentSignal, signal]
      return await pool.run(path, { ...given, writes: !given.readOnly && mayLock(statement) }, signals)
    },
    giveWay: path => pool.giveWay(path),
    async close() {
      pool.close()
    },
  }
}

const reading = new Set(['select', 'values', 'pragma', 'explain'])

/** Returns true for a statement that can take the write lock: SQLite allows one writer at a time. */
function mayLock(statement: Statement): boolean {
  return !reading.has(statement.kind) && mayWrite(statement)
}
