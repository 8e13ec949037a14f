/** Milliseconds that long work may take of a turn of the event loop before everything else gets its own. */
const sliceMs = 5

const waiting: (() => void)[] = []
let sliceEnd = 0

/**
 * To be awaited between the steps of long work, each of which takes a few milliseconds at most. Resolves at once while
 * the slice of this turn of the event loop lasts, which all long work shares; else in a later turn.
 */
export function turn(): Promise<void> | undefined {
  if (performance.now() < sliceEnd) return undefined
  const { promise, resolve } = Promise.withResolvers<void>()
  if (waiting.push(resolve) === 1) setImmediate(beginSlice)
  return promise
}

/** One waits for each turn: what two did in the same one would add up. */
function beginSlice(): void {
  sliceEnd = performance.now() + sliceMs
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(beginSlice)
}
