import { vi } from 'vitest'

/** Milliseconds; far more than anything takes, since the machine may be busy, and less than what is lost takes to come back. */
const usual = 25_000

/** For what happens on its own in the background: tries `check` until it no longer throws. */
export async function eventually(check: () => unknown, timeout = usual): Promise<void> {
  await vi.waitFor(check, { timeout, interval: 10 })
}
