import { setImmediate as yieldToOthers } from 'node:timers/promises'

/** As `map` does; between batches the event loop looks for other news, so that many values hold nobody up. */
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
