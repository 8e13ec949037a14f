/** The work exceeded its time limit. */
export class Overdue extends Error {}

/** Waits for the work until a timeout or the caller's abort; the work itself continues. */
export async function within<Value>(work: Promise<Value>, ms: number, signal: AbortSignal): Promise<Value> {
  const { promise: overdue, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Overdue()), ms)
  return await orAborted(Promise.race([work, overdue]), signal).finally(() => clearTimeout(timer))
}

/** Waits for the work until the caller's abort; the work itself continues. */
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
