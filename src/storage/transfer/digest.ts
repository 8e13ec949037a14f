import { createHash } from 'node:crypto'

/** A part of an agent, or of the platform, that was read or copied: a table, or all uploads. */
export interface Part {
  name: string
  rows: number
  /** In hexadecimal digits; equal for the same rows, whichever engine holds them. */
  sha256: string
  /** Names of the files that rows name and of which there is nothing here. */
  missing?: string[]
}

export type Row = Record<string, unknown>

/** Sums up the rows of a part, which are to be given in the order of their keys. */
export function createDigest(name: string) {
  const hash = createHash('sha256')
  let rows = 0
  return {
    add(row: Row) {
      rows += 1
      hash.update(`${canonical(row)}\n`)
    },
    /** What belongs to the part but is no row of it. */
    note(fact: Row) {
      hash.update(`${canonical(fact)}\n`)
    },
    part: (): Part => ({ name, rows, sha256: hash.digest('hex') }),
  }
}

/** One text for all parts together. */
export function sumOf(parts: readonly Part[]): string {
  return createHash('sha256')
    .update(JSON.stringify(parts.map(partLine)))
    .digest('hex')
}

function partLine({ name, rows, sha256 }: Part) {
  return [name, rows, sha256]
}

/** The same text whatever order the columns have, and whichever class of bytes the engine gives. */
function canonical(row: Row): string {
  const columns = Object.keys(row).sort()
  return JSON.stringify(columns.map(column => [column, plain(row[column])]))
}

function plain(value: unknown): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value
}
