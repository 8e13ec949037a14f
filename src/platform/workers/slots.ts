export interface Slots {
  /** Waits in order for a free slot. Resolves to the function that releases it; rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<() => void>
}

/** At most `count` holders at a time. */
export function createSlots(count: number): Slots {
  const waiting = new Set<() => void>()
  let free = count

  function release(): void {
    const [next] = waiting
    if (next === undefined) free += 1
    else next()
  }

  return {
    async take(signal) {
      signal.throwIfAborted()
      if (free > 0) {
        free -= 1
        return release
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const giveUp = () => {
        waiting.delete(enter)
        reject(signal.reason)
      }
      const enter = () => {
        waiting.delete(enter)
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      waiting.add(enter)
      signal.addEventListener('abort', giveUp, { once: true })
      await promise
      return release
    },
  }
}
