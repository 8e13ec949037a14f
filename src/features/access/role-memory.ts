import { LRUCache } from 'lru-cache'
import type { Role } from './policy.ts'

/** The known state of an e-mail address on an existing agent. */
export interface KnownRole {
  role: Role | null
}

type ReadRole = (agentId: string, email: string) => Promise<KnownRole | undefined>

const rolesRemembered = 5000

/**
 * Remembers roles, for a process that alone changes them. Code that changes one calls `forget` after the change and before
 * reporting it. A role that was being read meanwhile is not remembered, since it may be the old one; nor is an agent that
 * does not exist.
 */
export function rememberRoles(read: ReadRole) {
  const remembered = new LRUCache<string, KnownRole>({ max: rolesRemembered })
  let changes = 0

  async function readAndRemember(agentId: string, email: string, key: string) {
    const before = changes
    const found = await read(agentId, email)
    if (found !== undefined && changes === before) remembered.set(key, found)
    return found
  }

  return {
    find(agentId: string, email: string): KnownRole | Promise<KnownRole | undefined> {
      // With its length before it, no e-mail can pass for a part of the agent's id.
      const key = `${email.length} ${email}${agentId}`
      return remembered.get(key) ?? readAndRemember(agentId, email, key)
    },
    forget(): void {
      changes += 1
      remembered.clear()
    },
  }
}

/** For a process beside others that change roles too: every decision reads anew. */
export function readRolesAnew(read: ReadRole) {
  return { find: read, forget() {} }
}
