/** Time without a search after which a thread drops its caches (ms). */
const idleMs = 15_000

/** Returns a function to call whenever a cache is used; `letGo` is called when that has not happened for a while. */
export function onceIdle(letGo: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  return () => {
    if (timer !== undefined) timer.refresh()
    else
      timer = setTimeout(() => {
        timer = undefined
        letGo()
      }, idleMs).unref()
  }
}
