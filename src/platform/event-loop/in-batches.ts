import { setImmediate as yieldToOthers } from 'node:timers/promises'

/** Works like `map`, but yields to the event loop between batches, so that many values do not block it. */
export async function mapInBatches<Value, Result>(
  values: readonly Value[],
  atOnce: number,
  map: (value: Value) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  for (const value of values) {
    if (results.length > 0 && results.length % atOnce === 0) await yieldToOthers()
    results.push(map(value))
  }
  return results
}
