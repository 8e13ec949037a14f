import { beginAtEndOfTurn } from '../end-of-turn.ts'
import type { App } from './app.ts'

/** Requests that begin before the event loop looks for other news. */
const atOnce = 8
/** Bytes of a body that may be read before its request begins. */
const longestBody = 64 * 1024

/**
 * Requests begin a few in each turn of the event loop, in the order in which they came, before anything is done for them.
 * Those with long bodies do not wait here: their bodies would be read ahead meanwhile, which uploads prevent by themselves.
 */
export function beginInOrder(app: App): void {
  const turnstile = createTurnstile(atOnce)
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    const isLong = Number(headers['content-length'] ?? 0) > longestBody || 'transfer-encoding' in headers
    if (isLong) done()
    else turnstile.pass(done)
  })
}

/**
 * Lets a few through in each turn of the event loop, first come first served. Of many who come at the same moment the
 * first ones then get their answers while the last ones still wait, where otherwise all would wait for the work of all.
 * They arrive one after the other none the less, and are cheaper together: while each turn brings another one, and there
 * are not enough yet, they wait for each other.
 */
export function createTurnstile(most: number) {
  let waiting: (() => void)[] = []
  /** How many waited at the end of the turn before. */
  let knownToWait = 0

  function turn(): void {
    const isMoreToCome = waiting.length > knownToWait && waiting.length < most
    const entering = isMoreToCome ? [] : waiting.slice(0, most)
    waiting = waiting.slice(entering.length)
    knownToWait = waiting.length
    if (waiting.length > 0) beginAtEndOfTurn(turn)
    for (const enter of entering) enter()
  }

  return {
    /** Calls back within two turns unless many come. */
    pass(enter: () => void): void {
      if (waiting.length === 0) beginAtEndOfTurn(turn)
      waiting.push(enter)
    },
  }
}
