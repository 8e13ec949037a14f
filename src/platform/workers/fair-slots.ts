export interface FairSlots {
  /** Waits for a slot. Resolves to the function that releases it; rejects with the signal's reason. */
  take(owner: string, signal?: AbortSignal): Promise<() => void>
}

type Enter = () => void

const never = new AbortController().signal

/**
 * At most `count` holders, and at most `perOwner` with the same owner. Owners take turns; requests of one
 * owner are served in order. The last free slot is for an owner that holds none, which seldom waits long.
 */
export function createFairSlots(count: number, perOwner: number): FairSlots {
  const held = new Map<string, number>()
  /** Waiting requests by owner; the next owner comes first. */
  const waiting = new Map<string, Enter[]>()
  let free = count

  function admit(): void {
    for (const [owner, queue] of waiting) {
      if (free === 0) return
      const holding = held.get(owner) ?? 0
      if (holding >= perOwner || (holding > 0 && free === 1)) continue
      const enter = queue.shift()
      waiting.delete(owner)
      if (queue.length > 0) waiting.set(owner, queue)
      free -= 1
      held.set(owner, holding + 1)
      enter?.()
    }
  }

  function release(owner: string): void {
    const left = (held.get(owner) ?? 1) - 1
    if (left === 0) held.delete(owner)
    else held.set(owner, left)
    free += 1
    admit()
  }

  function leave(owner: string, enter: Enter): void {
    const queue = (waiting.get(owner) ?? []).filter(one => one !== enter)
    if (queue.length === 0) waiting.delete(owner)
    else waiting.set(owner, queue)
  }

  return {
    async take(owner, signal = never) {
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const giveUp = () => {
        leave(owner, enter)
        reject(signal.reason)
      }
      const enter = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      signal.addEventListener('abort', giveUp, { once: true })
      waiting.set(owner, [...(waiting.get(owner) ?? []), enter])
      admit()
      await promise
      return () => release(owner)
    },
  }
}
