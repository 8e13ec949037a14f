/** Reads the rows of a database source, in the same way as other SQL of people. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '#platform/errors.ts'
import { SqlBusy } from '#sandbox/sql/sql-busy.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Fetched } from './parse-fetched.ts'

interface SelectedRows {
  columns: string[]
  rows: unknown[][]
  /** True if there were more rows. */
  truncated?: boolean
}

/** Runs one SELECT without side effects. @throws AppError if it is invalid or fails. */
export type SelectRows = (
  agent: AgentHandle,
  statement: { query: string; maxRows?: number },
  signal: AbortSignal,
) => Promise<SelectedRows>

export type Selected = { kind: 'content'; fetched: Fetched } | { kind: 'failed'; reason: string }

export async function runQuery(
  select: SelectRows,
  agent: AgentHandle,
  query: string,
  signal: AbortSignal,
): Promise<Selected> {
  try {
    const { columns, rows, truncated = false } = await select(agent, { query }, signal)
    if (truncated) return { kind: 'failed', reason: tooMuch }
    const bytes = await encodeRows({ columns, rows })
    return { kind: 'content', fetched: { bytes, format: 'rows', contentType: '', url: '' } }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof AppError) || isPassing(error)) throw error
    return { kind: 'failed', reason: `The query could not be run: ${issueOf(error)}` }
  }
}

/** True if the same query can succeed at the next attempt. */
function isPassing(error: AppError): boolean {
  return error.fault === 'unexpected' || error.code === 'SHUTTING_DOWN' || error instanceof SqlBusy
}

/** Number of characters written before others get their turn. */
const charactersAtOnce = 256 * 1024

/** Encodes rows as JSON in UTF-8, for the chunking thread. */
export async function encodeRows({
  columns,
  rows,
}: Pick<SelectedRows, 'columns' | 'rows'>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let text = `{"columns":${JSON.stringify(columns)},"rows":[`
  for (const [number, row] of rows.entries()) {
    text += `${number === 0 ? '' : ','}${JSON.stringify(row)}`
    if (text.length < charactersAtOnce) continue
    parts.push(new TextEncoder().encode(text))
    text = ''
    await nextTurn()
  }
  parts.push(new TextEncoder().encode(`${text}]}`))
  return joined(parts)
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let start = 0
  for (const part of parts) {
    whole.set(part, start)
    start += part.length
  }
  return whole
}

const tooMuch =
  'The query gives more than 10,000 rows, or more than 8 MiB, which is the most that a source takes. ' +
  'Narrow it, or make several sources of it.'

/** Returns the problem, without the name of a field. */
export function issueOf({ details, message }: AppError): string {
  return typeof details?.issue === 'string' ? details.issue : message
}
