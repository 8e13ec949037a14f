import { beginAtEndOfTurn } from '../event-loop/end-of-turn.ts'
import type { App } from './app.ts'

/** Questions that begin before the event loop looks for other news. */
const atOnce = 8

/**
 * Questions begin a few in each turn of the event loop, in the order in which they came, before anything is done for them.
 * Other requests are answered in the turn in which they come, however many questions wait.
 */
export function beginQuestionsInOrder(app: App): void {
  const turnstile = createTurnstile(atOnce)
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.limit === 'chat') turnstile.pass(done)
    else done()
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
