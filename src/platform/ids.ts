import { randomBytes } from 'node:crypto'
import { v7 as orderedUuid } from 'uuid'
import { currentChange } from './current-change.ts'

const alphanumerics = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Where new identifiers come from; tests pass a counting one. */
export interface Ids {
  /** An opaque identifier of a record. Those of one process sort as they were made, as lists order records of one millisecond. */
  record(): string
  /** A tool call identifier: nine alphanumerics, as the wire format requires. */
  toolCall(): string
}

export const randomIds: Ids = {
  record() {
    const id = orderedUuid()
    currentChange.getStore()?.made(id)
    return id
  },
  toolCall: () => Array.from(randomBytes(9), byte => alphanumerics[byte % alphanumerics.length]).join(''),
}
