/** Notifies long-running requests when their caller may no longer be allowed to make them. */
export interface AccessWatch {
  /** Calls `look` whenever rights on the agent might be lost. Returns a function that ends the watch. */
  watch(agentId: string, look: () => void): () => void
  /** Called when rights on the agent were removed, or it was disabled. Without an id, rights on any agent might be lost. */
  notify(agentId?: string): void
}

/** @param everyMs the interval of checks for changes without a notification: expiry, and changes by other processes */
export function createAccessWatch(everyMs: number): AccessWatch {
  const looks = new Map<string, Set<() => void>>()

  return {
    watch(agentId, look) {
      const ofAgent = looks.get(agentId) ?? new Set()
      looks.set(agentId, ofAgent.add(look))
      const timer = setInterval(look, everyMs).unref()
      return () => {
        clearInterval(timer)
        ofAgent.delete(look)
        if (ofAgent.size === 0) looks.delete(agentId)
      }
    },
    notify(agentId) {
      const concerned = agentId === undefined ? [...looks.values()] : [looks.get(agentId) ?? []]
      for (const look of concerned.flatMap(each => [...each])) look()
    },
  }
}
