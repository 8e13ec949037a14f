/** Notifies long-running requests when their caller may no longer be allowed to make them. */
export interface AccessWatch {
  /** Calls `look` whenever rights on the agent may have been lost; returns a function that stops it. */
  watch(agentId: string, look: () => void): () => void
  /** To be called when rights on the agent were taken away, or it was disabled; without one, when rights on any may be lost. */
  notify(agentId?: string): void
}

/** @param everyMs how often to look for what is not notified: time that is up, and changes by other processes */
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
