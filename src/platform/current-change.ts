import { AsyncLocalStorage } from 'node:async_hooks'

/** A change by a request or a tool, with a row in the audit log. */
export interface CurrentChange {
  /** Called when a transaction begins. Returns the row's writer; undefined if that is elsewhere, or done. */
  join(database: object): Joined | undefined
  /** Called with the id of each record that the change makes. */
  made(id: string): void
  /**
   * Adds details of the change. A change whose details name agents has a row under each of them. For a
   * secret, the details have `changed` or `removed`.
   */
  describe(details: Readonly<Record<string, unknown>>, agentId?: string): void
}

export interface Joined {
  /** Called when an attempt of the transaction begins: the records of an earlier attempt are dropped. */
  began(): void
  write(transaction: unknown): Promise<void>
  /** Must not throw. */
  ended(isStored: boolean): Promise<void>
}

/** The current change; undefined for work that makes no change of its own. */
export const currentChange = new AsyncLocalStorage<CurrentChange | undefined>()

export function describeChange(details: Readonly<Record<string, unknown>>, agentId?: string): void {
  currentChange.getStore()?.describe(details, agentId)
}
