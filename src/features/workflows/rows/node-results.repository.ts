import { sql } from 'kysely'
import { turn } from '#platform/event-loop/turns.ts'
import { prepareQuery } from '#platform/prepared-query.ts'
import type { AgentTables, AgentDatabase as Database } from '#storage/tables.ts'
import { type NodeResult, sizeOf } from '../engine/plan.ts'
import { type StoredNodeStatus, shownStatus } from '../execution-status.ts'
import type { Execution } from '../workflows.schema.ts'
import type { ExecutionRow } from './executions.repository.ts'

const columns = [
  'node_id',
  'path',
  'status',
  'attempts',
  'handle',
  'output',
  'error',
  'warnings',
  'due_at',
  'started_at',
  'duration_ms',
  'began',
  'ended',
  'completed_at',
] as const
const integers: readonly string[] = ['attempts', 'duration_ms', 'began', 'ended']
const key = ['execution_id', 'node_id', 'path'] as const

/** SQLite takes at most 500 selects in a statement. */
const portionRows = 200
/** Max bytes of texts in a batch, except for a single larger row; a batch takes a few milliseconds. */
const portionBytes = 1024 * 1024

/** Splits rows into batches, one for each statement. */
function inPortions<Row>(rows: readonly Row[], bytesOf: (row: Row) => number): Row[][] {
  const portions: Row[][] = []
  let bytes = 0
  for (const row of rows) {
    const last = portions.at(-1)
    bytes += bytesOf(row)
    if (last !== undefined && last.length < portionRows && bytes <= portionBytes) last.push(row)
    else {
      portions.push([row])
      bytes = bytesOf(row)
    }
  }
  return portions
}

export interface ResultKey extends Pick<NodeResult, 'node_id' | 'path' | 'started_at' | 'status'> {
  began: number | null
  ended: number | null
  /** Total bytes of the row's texts. */
  bytes: number
}

const keyPage = 1_000

/** Reads the keys of an execution's results, optionally only those with this status. */
export async function readKeys(
  database: Database,
  id: string,
  status?: StoredNodeStatus,
): Promise<ResultKey[]> {
  const keys: ResultKey[] = []
  for (;;) {
    const { node_id = '', path = '' } = keys.at(-1) ?? {}
    let page = database
      .selectFrom('node_results')
      .select(['node_id', 'path', 'started_at', 'status', 'began', 'ended'])
      .select(
        sql<number>`coalesce(octet_length(output), 0) + coalesce(octet_length(warnings), 0)`.as('bytes'),
      )
      .where('execution_id', '=', id)
      .where(sql<boolean>`(node_id, path) > (${node_id}, ${path})`)
    if (status !== undefined) page = page.where('status', '=', status)
    const rows = await page.orderBy('node_id').orderBy('path').limit(keyPage).execute()
    keys.push(...(rows as ResultKey[]))
    if (rows.length < keyPage) return keys
    await turn()
  }
}

/** Reads the results with these keys in batches; rows that were deleted meanwhile are left out. */
export async function* readRows(database: Database, id: string, keys: readonly ResultKey[]) {
  for (const portion of inPortions(keys, key => key.bytes)) {
    const named = portion.map(({ node_id, path }) => sql`(${node_id}, ${path})`)
    const rows = await database
      .selectFrom('node_results')
      .select(columns)
      .where('execution_id', '=', id)
      .where(sql<boolean>`(node_id, path) in (values ${sql.join(named)})`)
      .execute()
    yield rows as NodeResult[]
    await turn()
  }
}

/** Reads the results of an execution's nodes, optionally only those with this status. */
export async function readResults(database: Database, executionId: string, status?: StoredNodeStatus) {
  const keys = await readKeys(database, executionId, status)
  const results: NodeResult[] = []
  for await (const rows of readRows(database, executionId, keys)) results.push(...rows)
  return results
}

/** Stores the results of nodes that need not run. */
export async function insertResults(
  database: Database,
  execution_id: string,
  results: readonly NodeResult[],
): Promise<void> {
  for (const portion of inPortions(results, sizeOf)) {
    await turn()
    const rows = portion.map(result => ({ execution_id, ...result }))
    await database.insertInto('node_results').values(rows).execute()
  }
}

/**
 * Stores the results in their order if `attempt` still runs; one statement stores all but many or long
 * results. If other processes can take over, the execution's row is locked meanwhile: a takeover would
 * otherwise miss results that are committed a moment later.
 *
 * @returns false if the attempt no longer runs.
 */
export async function recordResults(
  database: Database,
  execution: Pick<ExecutionRow, 'id' | 'attempt'>,
  results: readonly NodeResult[],
  isExclusive: boolean,
): Promise<boolean> {
  for (const portion of inPortions(results, sizeOf)) {
    await turn()
    if (!(await recordPortion(database, execution, portion, isExclusive))) return false
  }
  return true
}

async function recordPortion(
  database: Database,
  { id, attempt }: Pick<ExecutionRow, 'id' | 'attempt'>,
  results: readonly NodeResult[],
  isExclusive: boolean,
): Promise<boolean> {
  const values: Record<string, unknown> = { id, attempt }
  for (const [index, result] of results.entries())
    for (const column of columns) values[`${index} ${column}`] = result[column]
  const stored = await recordStatement(results.length, isExclusive)(database, values)
  return stored.length > 0
}

const statements = new Map<string, ReturnType<typeof newStatement>>()
/** Max rows of a cached statement: nearly all have one or two. */
const maxKeptRows = 8

function recordStatement(rows: number, isExclusive: boolean) {
  const key = `${rows} ${isExclusive}`
  const statement = statements.get(key) ?? newStatement(rows, isExclusive)
  if (rows <= maxKeptRows) statements.set(key, statement)
  return statement
}

function newStatement(count: number, isExclusive: boolean) {
  return prepareQuery<AgentTables, { stored: number }, string>((database, value) => {
    const lock = isExclusive ? sql`` : sql`for share`
    const guard = sql`exists (select 1 from executions where id = ${value('id')} and attempt = ${value('attempt')} and status = 'running' ${lock})`
    const rows = Array.from({ length: count }, (_, index) => {
      const values = columns.map(column => {
        const type = integers.includes(column) ? sql`integer` : sql`text`
        return sql`cast(${value(`${index} ${column}`)} as ${type})`
      })
      return sql`select cast(${value('id')} as text), ${sql.join(values)} where ${guard}`
    })
    const changes = columns.slice(2).map(column => sql`${sql.ref(column)} = excluded.${sql.ref(column)}`)
    const names = ['execution_id', ...columns].map(column => sql.ref(column))
    const statement = sql<{ stored: number }>`
      insert into node_results (${sql.join(names)}) ${sql.join(rows, sql` union all `)}
      on conflict (${sql.join(key.map(column => sql.ref(column)))})
      do update set ${sql.join(changes)} returning 1 as stored`
    return { compile: () => statement.compile(database) }
  })
}

/** Stores a person's decision on a node that waits: it continues at `due_at`. */
export async function decideNode(
  database: Database,
  executionId: string,
  { node_id, path }: NodeResult,
  decision: { output: string; due_at: string },
): Promise<void> {
  await database
    .updateTable('node_results')
    .set(decision)
    .where('execution_id', '=', executionId)
    .where('node_id', '=', node_id)
    .where('path', '=', path)
    .execute()
}

const shownBytes = 2 * 1024 * 1024

/** Yields results as JSON in the order of their beginnings; outputs stop at a size limit. */
export async function* writeResults(
  database: Database,
  execution: Pick<ExecutionRow, 'id' | 'status'>,
  givenKeys: readonly ResultKey[],
  inputOf: (row: Pick<NodeResult, 'node_id' | 'path'>) => Promise<ShownInput>,
): AsyncGenerator<string[]> {
  const keys = givenKeys.toSorted(byBeginning)
  let bytes = 0
  for await (const rows of readRows(database, execution.id, keys)) {
    const written: string[] = []
    for (const row of rows.toSorted(byBeginning)) {
      bytes += Buffer.byteLength(row.output ?? '')
      const output = bytes <= shownBytes ? row.output : null
      written.push(writeResult({ ...row, output }, execution, await inputOf(row)))
    }
    yield written
  }
}

type Begun = Pick<NodeResult, 'began' | 'started_at' | 'node_id' | 'path'>

/** Sorts by beginning. Results of earlier versions, which are not numbered, come first. */
export function byBeginning(one: Begun, other: Begun): number {
  if (one.began !== other.began) return (one.began ?? -Infinity) - (other.began ?? -Infinity)
  if (one.started_at !== other.started_at) return one.started_at < other.started_at ? -1 : 1
  if (one.node_id !== other.node_id) return one.node_id < other.node_id ? -1 : 1
  return one.path < other.path ? -1 : 1
}

/** The input of a node as JSON; `truncated` if it was cut or left out. */
export interface ShownInput {
  json: string
  truncated?: true
}

/** Returns the result as JSON; outputs and warnings are JSON already. */
export function writeResult(row: NodeResult, execution: { status: string }, input: ShownInput): string {
  const { node_id, path, started_at, completed_at, duration_ms, attempts, error, output, warnings } = row
  const others = JSON.stringify({
    node_id,
    path,
    status: shownStatus(row, execution),
    started_at,
    completed_at,
    duration_ms,
    attempts,
    error,
    ...(input.truncated && { truncated: true }),
  } satisfies Omit<Execution['node_results'][number], 'input' | 'output' | 'warnings'>)
  const shown = (row.status !== 'looping' && output) || 'null'
  return `${others.slice(0, -1)},"input":${input.json},"output":${shown},"warnings":${warnings ?? '[]'}}`
}

const deletedRows = 500
const deletedBytes = 4 * 1024 * 1024

/** Deletes some results of these executions, in a short statement; false once there are none. */
export async function deleteSomeResults(
  database: Database,
  executionIds: readonly string[],
): Promise<boolean> {
  const running = sql`over (order by execution_id, node_id, path)`
  const { numAffectedRows = 0n } = await sql`
    delete from node_results where (execution_id, node_id, path) in (
      select execution_id, node_id, path from (
        select execution_id, node_id, path, row_number() ${running} as place,
          sum(coalesce(octet_length(output), 0) + coalesce(octet_length(warnings), 0)) ${running} as bytes
        from node_results where execution_id in (${sql.join(executionIds)})
      ) as numbered
      where place = 1 or (place <= ${sql.lit(deletedRows)} and bytes <= ${sql.lit(deletedBytes)})
    )`.execute(database)
  return numAffectedRows > 0n
}
