/** Tells which agents have work due, so that nobody ever has to look into all of them. */
export interface WakeUps {
  /**
   * Before a transaction that adds work commits: from here on the agent is looked at, some seconds later, whatever becomes
   * of this process.
   */
  announce(agentId: string): Promise<Announcement>
  /** Makes the agent due at `dueAt` (milliseconds since the epoch), unless it is due earlier. */
  pull(agentId: string, dueAt: number): Promise<void>
  /** An agent that is due, the one that has been so for longest; undefined when there is none. */
  take(): Promise<string | undefined>
  /**
   * After looking into an agent that was taken: when to look again, undefined for never. News that came in the
   * meantime win over it.
   */
  settle(agentId: string, dueAt: number | undefined): Promise<void>
  /**
   * Begins to call `onDue` whenever an agent becomes due. Wake-ups that stand for work of a dead predecessor, which are
   * due within `lease` milliseconds, become due at once where there can be no other process.
   */
  start(onDue: () => void, lease: number): Promise<void>
  /** After this nothing of it may be used any more. */
  stop(): Promise<void>
}

export interface Announcement {
  /** After the commit: pulls the wake-up forward. Undefined when nothing was added, or the transaction failed. */
  settle(dueAt: number | undefined): Promise<void>
}
