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

/** For work that is short as a rule, and waits for no turn before it has used up one: `if (turns.isOver()) await turns.next()`. */
export function takeTurns() {
  let begun = performance.now()
  return {
    isOver: () => performance.now() - begun >= sliceMs,
    async next(): Promise<void> {
      await turn()
      begun = performance.now()
    },
  }
}

/** Like `map`, in turns. */
export async function mapInTurns<Value, Result>(
  values: readonly Value[],
  map: (value: Value) => Result,
): Promise<Result[]> {
  const turns = takeTurns()
  const results: Result[] = []
  for (const value of values) {
    results.push(map(value))
    if (turns.isOver()) await turns.next()
  }
  return results
}
