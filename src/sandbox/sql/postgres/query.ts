/**
 * Runs one statement over the extended protocol, which accepts no second one, and reads its rows in batches,
 * so that neither their number nor their size can exceed the limits.
 * (https://www.postgresql.org/docs/current/protocol-flow.html)
 */
import type { Client, Connection, Submittable } from 'pg'
import { maxBytes } from '../limits.ts'

export interface QueryOptions {
  text: string
  values: readonly (string | null)[]
  /** Types of the values; the server infers missing ones. */
  types: readonly number[]
  maxRows: number
  /** True to keep the rows read so far if the rest is too large; otherwise the statement fails. */
  onlyReads: boolean
}

export interface QueryResult {
  columns: { name: string; type: number }[]
  /** Rows as text that the server has formatted. */
  rows: (string | null)[][]
  /** Number of sent rows, including dropped ones. */
  sent: number
  /** A tag such as `INSERT 0 1`, from the last batch of rows; empty if not all of them were read. */
  tag: string
  truncated: boolean
}

/** Thrown if the rows exceed the limit. */
export class TooLarge extends Error {}

const firstPortion = 50
const nextPortion = 500
/** Max bytes from the server: a row must arrive completely to be measured, and is longer in transit. */
const floodLimit = 2 * maxBytes + 64 * 1024

interface Message {
  fields: { name: string; dataTypeID: number }[]
}

/** @throws TooLarge, after which the connection is closed, and any error of the server. */
export function runQuery(client: Client, options: QueryOptions): Promise<QueryResult> {
  const { promise, resolve, reject } = Promise.withResolvers<QueryResult>()
  const query = new PortionedQuery(options, resolve, reject)
  const ended = () => reject(new Error('the connection was cut'))
  const { stream } = client.connection
  const count = (chunk: Buffer) => {
    if (query.receive(chunk.length)) return
    stream.destroy()
  }
  client.once('end', ended)
  stream.on('data', count)
  client.query(query)
  return promise.finally(() => {
    client.off('end', ended)
    stream.off('data', count)
  })
}

class PortionedQuery implements Submittable {
  readonly #options: QueryOptions
  readonly #resolve: (result: QueryResult) => void
  readonly #reject: (error: unknown) => void
  readonly #result: QueryResult = { columns: [], rows: [], sent: 0, tag: '', truncated: false }
  #bytes = 0
  #received = 0
  #synced = false
  #failure: unknown

  constructor(
    options: QueryOptions,
    resolve: (result: QueryResult) => void,
    reject: (error: unknown) => void,
  ) {
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
  }

  /** @returns true if the connection can be reused. */
  receive(bytes: number): boolean {
    this.#received += bytes
    if (this.#received <= floodLimit) return true
    if (this.#options.onlyReads && this.#result.rows.length > 0)
      this.#resolve({ ...this.#result, truncated: true })
    else this.#reject(new TooLarge())
    return false
  }

  submit(connection: Connection): void {
    const { text, values, types } = this.#options
    connection.stream.cork()
    connection.parse({ name: '', text, types: types.map(String) }, true)
    connection.bind({ portal: '', statement: '', values: [...values] }, true)
    connection.describe({ type: 'P', name: '' }, true)
    this.#request(connection, firstPortion)
    connection.stream.uncork()
  }

  handleRowDescription({ fields }: Message): void {
    this.#result.columns = fields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID }))
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const { rows, truncated } = this.#result
    this.#result.sent += 1
    if (truncated) return
    this.#bytes += fields.reduce((sum, field) => sum + (field?.length ?? 4) + 3, 0)
    if (rows.length >= this.#options.maxRows || this.#bytes > maxBytes) this.#result.truncated = true
    else rows.push(fields)
  }

  handlePortalSuspended(connection: Connection): void {
    // A write is complete by now, but reports the number of changed rows only after its last row.
    if (this.#result.truncated && this.#options.onlyReads) this.#sync(connection)
    else this.#request(connection, this.#nextPortion())
  }

  handleCommandComplete({ text }: { text: string }, connection: Connection): void {
    this.#result.tag = text
    this.#sync(connection)
  }

  handleEmptyQuery(connection: Connection): void {
    this.#sync(connection)
  }

  handleError(error: unknown, connection: Connection): void {
    this.#failure = error
    this.#reject(error)
    this.#sync(connection)
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.#resolve(this.#result)
  }

  handleCopyInResponse(connection: Connection): void {
    this.#sync(connection)
  }

  handleCopyData(): void {}

  /** Returns the size of the next batch by the rows before, so that it does not flood the connection. */
  #nextPortion(): number {
    const average = this.#bytes / Math.max(1, this.#result.rows.length)
    const fitting = Math.floor(maxBytes / Math.max(1, average))
    return Math.max(1, Math.min(nextPortion, fitting))
  }

  #request(connection: Connection, rows: number): void {
    this.#received = 0
    connection.execute({ portal: '', rows: String(rows) }, true)
    connection.flush()
  }

  #sync(connection: Connection): void {
    if (this.#synced) return
    this.#synced = true
    connection.sync()
  }
}
