/** Who does something for long on an agent, and wants to know when that may not be allowed any more. */
export interface AccessWatch {
  /** Calls `look` when that may have happened; returns a function that ends it. */
  watch(agentId: string, look: () => void): () => void
  /** To be called when a role on the agent was taken away, or the agent was disabled. */
  tell(agentId: string): void
}

/** `everyMs`: how often to look for what other processes have done; undefined where there are none. */
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
    tell(agentId) {
      for (const look of [...(looks.get(agentId) ?? [])]) look()
    },
  }
}
