/**
 * Lets only a few through in each turn of the event loop, first come first served. Of many who begin at once the first
 * ones then get their answers while the last ones still wait, where otherwise all would wait for the work of all.
 */
export function createTurnstile(atOnce: number) {
  const waiting: (() => void)[] = []
  let passed = 0

  function open(): void {
    passed = 0
    for (const enter of waiting.splice(0, atOnce)) admit(enter)
  }

  function admit(enter: () => void): void {
    if (passed === 0) setImmediate(open)
    passed += 1
    enter()
  }

  return {
    /** Resolves at once unless many come. */
    pass(): Promise<void> {
      return new Promise(enter => {
        if (passed < atOnce && waiting.length === 0) admit(enter)
        else waiting.push(enter)
      })
    },
  }
}
