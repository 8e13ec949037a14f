import { LRUCache } from 'lru-cache'
import type { Role } from './policy.ts'

/** The known state of an e-mail address on an existing agent. */
export interface KnownRole {
  role: Role | null
}

type Read<Found> = (first: string, second: string) => Promise<Found | undefined>

const rowsRemembered = 5000

/**
 * Remembers what was found for two texts, for a process that alone changes it. Code that changes one calls `forget` after the
 * change and before reporting it. A row that was being read meanwhile is not remembered, since it may be the old one; nor is
 * that there is none.
 */
export function remember<Found extends object>(read: Read<Found>) {
  const remembered = new LRUCache<string, Found>({ max: rowsRemembered })
  let changes = 0

  async function readAndRemember(first: string, second: string, key: string) {
    const before = changes
    const found = await read(first, second)
    if (found !== undefined && changes === before) remembered.set(key, found)
    return found
  }

  return {
    find(first: string, second: string): Found | Promise<Found | undefined> {
      // With its length before it, no second text can pass for a part of the first.
      const key = `${second.length} ${second}${first}`
      return remembered.get(key) ?? readAndRemember(first, second, key)
    },
    forget(): void {
      changes += 1
      remembered.clear()
    },
  }
}

/** For a process beside others that change rows too: every decision reads anew. */
export function readAnew<Found extends object>(read: Read<Found>) {
  return {
    find: (first: string, second: string): Found | Promise<Found | undefined> => read(first, second),
    forget() {},
  }
}
