import { AsyncLocalStorage } from 'node:async_hooks'

/** A change that a request or a tool makes, of which a row of the audit log is kept. */
export interface CurrentChange {
  /**
   * Called when a transaction begins. Returns a part to be run at its end, so that change and row are committed together;
   * undefined if the row belongs elsewhere, or has been stored.
   */
  join(database: object): Joined | undefined
  /** Called with the id of each record that is made meanwhile. */
  made(id: string): void
  describe(details: ChangeDetails): void
}

/** Values by name. Never secrets: in the place of one stands `changed` or `removed`. */
export type ChangeDetails = Readonly<Record<string, unknown>>

export interface Joined {
  /** Called when the transaction has written something; once more each time that it is run again. */
  write(transaction: unknown): Promise<void>
  /** Called once. Must not throw. */
  ended(isCommitted: boolean): Promise<void>
}

/** Undefined for work that makes no change, and for work that goes on behind requests. */
export const currentChange = new AsyncLocalStorage<CurrentChange | undefined>()

/** Says what the current change has changed, for those of which that is recorded: settings, roles and keys. */
export function describeChange(details: ChangeDetails): void {
  currentChange.getStore()?.describe(details)
}
