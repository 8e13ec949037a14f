import { AppError } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import { parseAgentAddress } from '#storage/postgres/connections/address.ts'
import {
  mayHaveRole,
  prepareRole,
  roleName,
  tablesOutOfReach,
} from '#storage/postgres/connections/sql-role.ts'
import { timeLimit } from '../limits.ts'
import { type Problem, problemError, timedOut } from '../problem.ts'
import type { SqlAgent, SqlResult, SqlRunner, SqlStatement } from '../sql-runner.ts'
import { readStatement, type Statement, usageProblem } from '../statement.ts'
import { accessTo } from '../table-access.ts'
import { type Connections, createConnections, type Lease, type Login } from './connections.ts'
import { describe } from './describe.ts'
import { isServerError, isUntyped, mayLackRights, problemOf } from './failures.ts'
import { readPragma, runPragma } from './pragmas.ts'
import { type QueryResult, runQuery } from './query.ts'
import { translate } from './translate.ts'
import { fromText, toText, typeOf } from './values.ts'

interface Options {
  /** Derives the password of a role, the same on every replica. */
  passwordOf(role: string): string
  log: Log
  /** Max time (ms); the server's own limit is not changed. */
  limit?: number
}

/** Time beyond the server's own limit after which a connection is cut (ms). */
const cutAfter = 1_000

export function createSqlRunner({ passwordOf, log, limit = timeLimit }: Options): SqlRunner {
  const connections = createConnections()
  const roles = createRoles({ passwordOf, log, connections })

  async function runOnce(agent: SqlAgent, statement: Statement, given: SqlStatement, signals: AbortSignal[]) {
    const role = await roles.of(agent)
    const lease = await connections.take(role, signals).catch(error => {
      if (error instanceof AppError || signals.some(({ aborted }) => aborted)) throw error
      roles.forget(agent)
      throw unavailable(error)
    })
    return await runOn(lease, statement, given, { signals, limit })
  }

  return {
    describe: ({ db }) => describe(db),
    close: () => connections.close(),
    async run(agent, given, signal) {
      const statement = readStatement(given.query, 'postgres', given.onlySelect)
      if ('message' in statement) throw problemError(statement)
      const problem = usageProblem(statement, given)
      if (problem !== undefined) throw problemError(problem)
      if (statement.kind === 'pragma') return await answerPragma(agent, statement, given.maxRows)
      const signals = signal === undefined ? [agent.signal] : [agent.signal, signal]
      try {
        return await runOnce(agent, statement, given, signals)
      } catch (error) {
        for (const one of signals) one.throwIfAborted()
        // The table was perhaps created, or restored, after privileges were granted.
        if (mayLackRights(error) && (await roles.isStale(agent)))
          return await runOnce(agent, statement, given, signals).catch(rethrow)
        return rethrow(error)
      }
    },
  }
}

const broke: Problem = {
  kind: 'failed',
  message: 'The connection to the database broke while the statement ran. Try again.',
}

function rethrow(error: unknown): never {
  const problem = problemOf(error)
  if (error instanceof AppError) throw error
  throw problemError(problem ?? broke, error)
}

async function answerPragma({ db }: SqlAgent, { tokens }: Statement, maxRows: number): Promise<SqlResult> {
  const pragma = readPragma(tokens)
  const answer = 'message' in pragma ? pragma : await runPragma(db, pragma, maxRows)
  if ('message' in answer) throw problemError(answer)
  return answer
}

async function runOn(
  { client, release }: Lease,
  statement: Statement,
  given: SqlStatement,
  { signals, limit }: { signals: readonly AbortSignal[]; limit: number },
): Promise<SqlResult> {
  let broken = true
  const cut = Promise.withResolvers<never>()
  const stop = (error: unknown) => {
    cut.reject(error)
    client.connection.stream.destroy()
  }
  const signal = AbortSignal.any([...signals])
  const abort = () => stop(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  const timer = setTimeout(() => stop(problemError(timedOut(limit))), limit + cutAfter)
  // The signal might have been aborted while connecting.
  if (signal.aborted) abort()
  const answered = answer(client, statement, given)
  try {
    const result = await Promise.race([answered, cut.promise])
    broken = false
    return result
  } catch (error) {
    broken = !isServerError(error)
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    cut.promise.catch(() => {})
    answered.catch(() => {})
    void giveBack({ client, release }, broken || (given.readOnly && client.connection.stream.destroyed))
  }
}

async function answer(
  client: Lease['client'],
  statement: Statement,
  given: SqlStatement,
): Promise<SqlResult> {
  if (given.readOnly) await client.query('begin read only')
  const { text, onlyReads } = translate(given.query, statement)
  const values = given.parameters.map(toText)
  const query = { text, values, types: [], maxRows: given.maxRows, onlyReads }
  const result = await runQuery(client, query).catch(async error => {
    if (!isUntyped(error)) throw error
    if (given.readOnly) await client.query('rollback and chain')
    return await runQuery(client, { ...query, types: given.parameters.map(typeOf) })
  })
  return asResult(result)
}

/** Resets a session, of which no part may affect the next statement: settings, locks, a transaction. */
async function giveBack({ client, release }: Lease, broken: boolean): Promise<void> {
  if (broken || client.connection.stream.destroyed) {
    release(true)
    return
  }
  try {
    await client.query('rollback')
    await client.query('discard all')
    release(false)
  } catch {
    release(true)
  }
}

function asResult({ columns, rows, sent, tag, truncated }: QueryResult): SqlResult {
  const changed = /^(?:INSERT \d+|UPDATE|DELETE|MERGE) (\d+)$/.exec(tag)?.[1]
  return {
    columns: columns.map(({ name }) => name),
    rows: rows.map(row => row.map((value, index) => fromText(value, columns[index]?.type ?? 0))),
    rowCount: changed === undefined ? rows.length : columns.length > 0 ? sent : Number(changed),
    truncated,
  }
}

function createRoles({ passwordOf, log, connections }: Options & { connections: Connections }) {
  const roles = new Map<string, Promise<Login>>()

  async function prepare({ agentId, path, db, signal }: SqlAgent): Promise<Login> {
    const { url, schema } = parseAgentAddress(path)
    const role = await roleName(db, schema)
    if (!(await mayHaveRole(db, role))) throw mayNotCreate()
    const login = { url, role, password: passwordOf(role) }
    await prepareRole(db, {
      name: role,
      schema,
      password: login.password,
      timeLimit,
      rightsOf(table) {
        const access = accessTo(table)
        if (access.kind === 'hidden') return undefined
        const isWritable = access.kind === 'writable'
        return { table, writable: isWritable, updatable: isWritable ? [] : access.updatable }
      },
    }).catch(error => {
      log.warn({ err: error, agentId }, "the role of an agent's SQL can't be prepared")
      throw unavailable(error)
    })
    // Deleting an agent drops its role, and before that ends the role's connections.
    signal.addEventListener(
      'abort',
      () => {
        roles.delete(agentId)
        connections.forget(role)
      },
      { once: true },
    )
    return login
  }

  function of(agent: SqlAgent): Promise<Login> {
    const known = roles.get(agent.agentId)
    if (known !== undefined) return known
    const preparing = prepare(agent)
    roles.set(agent.agentId, preparing)
    preparing.catch(() => roles.delete(agent.agentId))
    return preparing
  }

  return {
    of,
    /** Returns true if the role lacks privileges on tables, which the next statement grants first. */
    async isStale(agent: SqlAgent): Promise<boolean> {
      const { role } = await of(agent)
      const tables = await tablesOutOfReach(agent.db, role)
      const isStale = tables.some(table => accessTo(table).kind !== 'hidden')
      if (isStale) roles.delete(agent.agentId)
      return isStale
    },
    /** Forgets a refused role, which the next statement prepares again. */
    forget: (agent: SqlAgent) => void roles.delete(agent.agentId),
  }
}

function mayNotCreate(): AppError {
  return new AppError(
    'SQL_UNAVAILABLE',
    'SQL needs a role of its own for each agent, and the user of DATABASE_URL may not create roles. ' +
      'The operator can allow it with: alter role … createrole.',
  )
}

function unavailable(cause: unknown): AppError {
  const reason = isServerError(cause) ? `: ${cause.message}` : ''
  return new AppError(
    'SQL_UNAVAILABLE',
    `The database server does not let this agent's SQL in${reason}. The operator finds what it needs in docs/operations.md.`,
    { cause },
  )
}
