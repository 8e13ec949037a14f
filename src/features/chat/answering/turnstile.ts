import { beginAtEndOfTurn } from '#platform/end-of-turn.ts'

/**
 * Lets a few through in each turn of the event loop, first come first served. Of many who come at the same moment the
 * first ones then get their answers while the last ones still wait, where otherwise all would wait for the work of all.
 * They arrive one after the other none the less, and are cheaper together: while each turn brings another one, and there
 * are not enough yet, they wait for each other.
 */
export function createTurnstile(atOnce: number) {
  const waiting: (() => void)[] = []
  /** How many waited at the end of the turn before. */
  let knownToWait = 0

  function turn(): void {
    const isMoreToCome = waiting.length > knownToWait && waiting.length < atOnce
    if (!isMoreToCome) for (const enter of waiting.splice(0, atOnce)) enter()
    knownToWait = waiting.length
    if (waiting.length > 0) beginAtEndOfTurn(turn)
  }

  return {
    /** Resolves within two turns unless many come. */
    pass(): Promise<void> {
      return new Promise(enter => {
        if (waiting.length === 0) beginAtEndOfTurn(turn)
        waiting.push(enter)
      })
    },
  }
}
