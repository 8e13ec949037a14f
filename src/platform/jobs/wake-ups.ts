/** Reports which agents have work due, so that no process ever has to look into all of them. */
export interface WakeUps {
  /**
   * To be called before a transaction that adds work commits: from now on the agent is sure to be looked at, some seconds
   * later, even if this process dies.
   */
  announce(agentId: string): Promise<Announcement>
  /** Makes the agent due at `dueAt` (milliseconds since the epoch), unless it is due earlier. */
  pull(agentId: string, dueAt: number): Promise<void>
  /** The agent that has been due for longest; undefined if none is due. */
  take(): Promise<string | undefined>
  /**
   * To be called after looking into an agent that was taken: when to look again, undefined for never. A wake-up that came
   * in the meantime wins over it.
   */
  settle(agentId: string, dueAt: number | undefined): Promise<void>
  /**
   * From now on calls `onDue` whenever an agent becomes due. Where no other process can exist, wake-ups for the work of a
   * dead predecessor, which are due within `lease` milliseconds, become due at once.
   */
  start(onDue: () => void, lease: number): Promise<void>
  /** Afterwards nothing of it may be used any more. */
  stop(): Promise<void>
}

export interface Announcement {
  /**
   * To be called after the commit: brings the wake-up forward. Undefined if nothing was added, or the transaction failed.
   */
  settle(dueAt: number | undefined): Promise<void>
}
