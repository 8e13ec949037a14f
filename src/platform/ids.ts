import { randomBytes } from 'node:crypto'
import { v7 as orderedUuid } from 'uuid'
import { currentChange } from './current-change.ts'

const alphanumerics = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** The source of new identifiers; tests pass a counting one. */
export interface Ids {
  /** Returns a record's opaque identifier. Those of a process sort by creation, within milliseconds, too. */
  record(): string
  /** Returns a tool call's identifier: nine alphanumerics, as the wire format requires. */
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
