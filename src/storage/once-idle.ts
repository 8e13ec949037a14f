/** Milliseconds without a search, after which a thread lets go of what it keeps for the next one. */
const idleMs = 15_000

/** Tells how to say that what is kept is in use; `letGo` is called when that was not said for a while. */
export function onceIdle(letGo: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  return () => {
    if (timer !== undefined) timer.refresh()
    else
      timer = setTimeout(() => {
        timer = undefined
        letGo()
        // A thread that only waits would never collect it by itself; `npm start` says that it may be told to.
        void globalThis.gc?.({ type: 'major', execution: 'async' })
      }, idleMs).unref()
  }
}
