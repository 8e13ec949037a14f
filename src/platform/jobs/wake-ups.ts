/** Reports the agents with due work, so that no process ever has to look into all of them. */
export interface WakeUps {
  /**
   * Call it before a transaction that adds work commits: from now on the agent is certainly looked at, some
   * seconds later, even if this process dies.
   */
  announce(agentId: string): Promise<Announcement>
  /** Makes the agent due at `dueAt` (milliseconds since the epoch), unless it is due earlier. */
  pull(agentId: string, dueAt: number): Promise<void>
  /** Returns the agent that has been due for longest; undefined if none is due. */
  take(): Promise<string | undefined>
  /**
   * Call it after a look into a taken agent with the time of the next look, undefined for never. A wake-up
   * that came meanwhile has priority.
   */
  settle(agentId: string, dueAt: number | undefined): Promise<void>
  /**
   * Calls `onDue` whenever an agent becomes due. If no other process can exist, wake-ups for a dead
   * predecessor's work, which are due within `lease` milliseconds, become due at once.
   */
  start(onDue: () => void, lease: number): Promise<void>
  /** Ends the wake-ups, which must not be used afterwards. */
  stop(): Promise<void>
}

export interface Announcement {
  /** Call it after the commit to bring the wake-up forward; undefined if nothing was added, or it failed. */
  settle(dueAt: number | undefined): Promise<void>
}
