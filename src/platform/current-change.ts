import { AsyncLocalStorage } from 'node:async_hooks'

/** A change that a request or a tool makes, of which the audit log keeps a row. */
export interface CurrentChange {
  /** Called when a transaction begins. Returns what stores the row at its end; undefined if that belongs elsewhere, or is done. */
  join(database: object): Joined | undefined
  /** Called with the id of each record that is made meanwhile. */
  made(id: string): void
  /**
   * Says what has changed, of one agent if it is named: the change then has a row under each agent that is.
   * In the place of a secret stands `changed` or `removed`.
   */
  describe(details: Readonly<Record<string, unknown>>, agentId?: string): void
}

export interface Joined {
  /** Called when an attempt of the transaction begins: what one before has made is not kept. */
  began(): void
  write(transaction: unknown): Promise<void>
  /** Must not throw. */
  ended(isStored: boolean): Promise<void>
}

/** Undefined for work that makes no change of its own. */
export const currentChange = new AsyncLocalStorage<CurrentChange | undefined>()

export function describeChange(details: Readonly<Record<string, unknown>>, agentId?: string): void {
  currentChange.getStore()?.describe(details, agentId)
}
