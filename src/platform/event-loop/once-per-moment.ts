/**
 * Reads once for everybody who asks for the same key at the same moment, that is until `process.nextTick`: callers that
 * start together share one read. It may miss a write made at that moment, so it is not for callers that must see their own
 * writes. The result must not be changed.
 */
export function oncePerMoment<Key, Result>(
  read: (key: Key) => Promise<Result>,
): (key: Key) => Promise<Result> {
  const reading = new Map<Key, Promise<Result>>()
  return key => {
    const begun = reading.get(key)
    if (begun !== undefined) return begun
    if (reading.size === 0) process.nextTick(() => reading.clear())
    const result = read(key)
    reading.set(key, result)
    return result
  }
}
