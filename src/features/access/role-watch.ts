/** Who does something for long on an agent, and wants to know when a role on it was taken away. */
export interface RoleWatch {
  /** Calls `look` when that may have happened; returns a function that ends it. */
  watch(agentId: string, look: () => void): () => void
  /** To be called when a role was taken away. */
  tell(agentId: string): void
}

/** `everyMs`: how often to look for what other processes have done; undefined where there are none. */
export function createRoleWatch(everyMs: number | undefined): RoleWatch {
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
