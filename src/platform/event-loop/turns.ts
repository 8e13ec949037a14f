/** Max time of long work in a turn of the event loop (ms), before other work runs. */
const sliceMs = 5

const waiting: (() => void)[] = []
let sliceEnd = 0

/**
 * Await it between the steps of long work, each of which takes at most a few milliseconds. Resolves at once
 * during the slice of this turn of the event loop, which all long work shares, and otherwise in a later turn.
 */
export function turn(): Promise<void> | undefined {
  if (performance.now() < sliceEnd) return undefined
  const { promise, resolve } = Promise.withResolvers<void>()
  if (waiting.push(resolve) === 1) setImmediate(beginSlice)
  return promise
}

/** Releases one waiter in each turn: the work of two in the same turn would add up. */
function beginSlice(): void {
  sliceEnd = performance.now() + sliceMs
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(beginSlice)
}

/** For mostly short work, which waits only after a used turn: `if (turns.isOver()) await turns.next()`. */
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

/** Works like `map`, in turns. */
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
