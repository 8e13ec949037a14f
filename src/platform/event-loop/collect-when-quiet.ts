import { getHeapSpaceStatistics } from 'node:v8'

/** Milliseconds without an answer. */
const quietMs = 50
/** Bytes of new objects that are worth a collection: some ten answers. */
const worthIt = 2 * 1024 * 1024

/**
 * Returns a function to be called with each answer. When none has followed for a moment, the garbage of those before is
 * collected: otherwise that becomes due in the middle of the next crowd, while everybody waits, and takes longer, since
 * what the crowd itself needs is then copied. `npm start` exposes `gc`.
 */
export function collectWhenQuiet(): () => void {
  const timer = setTimeout(() => {
    if (youngBytes() >= worthIt) void globalThis.gc?.({ type: 'minor', execution: 'async' })
  }, quietMs).unref()
  return () => void timer.refresh()
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_used_size ?? 0
}
