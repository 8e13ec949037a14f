/** Notifies long-running requests when their caller may no longer be allowed to make them. */
export interface AccessWatch {
  /** Calls `look` whenever rights on the agent may have been lost; returns a function that stops it. */
  watch(agentId: string, look: () => void): () => void
  /** To be called when a role on the agent was taken away, or the agent was disabled. */
  notify(agentId: string): void
}

/** `everyMs`: how often to look for changes by other processes; undefined if there are none. */
export function createAccessWatch(everyMs: number | undefined): AccessWatch {
  const looks = new Map<string, Set<() => void>>()

  return {
    watch(agentId, look) {
      const ofAgent = looks.get(agentId) ?? new Set()
      looks.set(agentId, ofAgent.add(look))
      const timer = everyMs === undefined ? undefined : setInterval(look, everyMs).unref()
      return () => {
        clearInterval(timer)
        ofAgent.delete(look)
        if (ofAgent.size === 0) looks.delete(agentId)
      }
    },
    notify(agentId) {
      for (const look of [...(looks.get(agentId) ?? [])]) look()
    },
  }
}
