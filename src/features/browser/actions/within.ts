/** The work took longer than it may. */
export class Overdue extends Error {}

/** Waits for the work until its time is over or the caller has gone; then leaves it to itself. */
export async function within<Value>(work: Promise<Value>, ms: number, signal: AbortSignal): Promise<Value> {
  const { promise: overdue, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Overdue()), ms)
  return await orAborted(Promise.race([work, overdue]), signal).finally(() => clearTimeout(timer))
}

/** Waits for the work until the caller has gone; then leaves it to itself. */
export async function orAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  work.catch(() => {})
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    signal.throwIfAborted()
    return await Promise.race([work, ended])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
