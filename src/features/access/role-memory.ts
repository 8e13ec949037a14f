import { LRUCache } from 'lru-cache'
import type { Role } from './policy.ts'

/** The known state of an e-mail address on an existing agent. */
export interface KnownRole {
  role: Role | null
}

type Read<Found> = (first: string, second: string) => Promise<Found | undefined>

const rowsRemembered = 5000

/**
 * Caches rows found by two texts, for a process that alone changes them. Code that changes a row calls `forget` after the
 * change and before reporting it. A row that was being read meanwhile is not cached, because it might be the old one; missing
 * rows are not cached either.
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
      // The length prefix keeps different pairs of texts apart.
      const key = `${second.length} ${second}${first}`
      return remembered.get(key) ?? readAndRemember(first, second, key)
    },
    forget(): void {
      changes += 1
      remembered.clear()
    },
  }
}

/** Reads without a cache, for a process beside others that change rows too. */
export function readAnew<Found extends object>(read: Read<Found>) {
  return {
    find: (first: string, second: string): Found | Promise<Found | undefined> => read(first, second),
    forget() {},
  }
}
