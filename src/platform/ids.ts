import { randomBytes, randomUUID } from 'node:crypto'
import { currentChange } from './current-change.ts'

const alphanumerics = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Where new identifiers come from; tests pass a counting one. */
export interface Ids {
  /** An opaque identifier of a record. */
  record(): string
  /** A tool call identifier: nine alphanumerics, as the wire format requires. */
  toolCall(): string
}

export const randomIds: Ids = {
  record() {
    const id = randomUUID()
    currentChange.getStore()?.made(id)
    return id
  },
  toolCall: () => Array.from(randomBytes(9), byte => alphanumerics[byte % alphanumerics.length]).join(''),
}
