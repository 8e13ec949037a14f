/**
 * Reads once for all who ask for the same key in one moment, that is until all that goes on by itself has gone on: many who
 * begin together read the same. A write of that moment may be missing in it, so that it is not for what has to see its
 * own writes. What `read` gives must not be changed.
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
