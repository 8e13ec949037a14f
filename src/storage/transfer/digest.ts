import { createHash } from 'node:crypto'

/** Digest of one part of an agent, or of the platform, as read or copied: a table, or all uploads. */
export interface Part {
  name: string
  rows: number
  /** In hexadecimal; the same for equal rows on every engine. */
  sha256: string
  /** Names of files that rows refer to but that do not exist here. */
  missing?: string[]
}

export type Row = Record<string, unknown>

/** Hashes the rows of a part, which must come in the order of their keys. */
export function createDigest(name: string) {
  const hash = createHash('sha256')
  let rows = 0
  return {
    add(row: Row) {
      rows += 1
      hash.update(`${canonical(row)}\n`)
    },
    /** Adds content of the part that is not a row. */
    note(fact: Row) {
      hash.update(`${canonical(fact)}\n`)
    },
    part: (): Part => ({ name, rows, sha256: hash.digest('hex') }),
  }
}

/** Returns the same text for columns in any order, and for either class of bytes. */
function canonical(row: Row): string {
  const columns = Object.keys(row).sort()
  return JSON.stringify(columns.map(column => [column, plain(row[column])]))
}

function plain(value: unknown): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value
}
