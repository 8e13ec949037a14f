import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { millisecondsOf, slowness } from './processor-time.ts'

/** Milliseconds between two measurements, and after which work is given up. */
const everyMs = 5
const mostMs = 240_000

/**
 * The longest that this thread computes without a turn of the event loop until the work is done, in milliseconds. Node's
 * own histogram of delays counts the time that passes, so of a busy machine also that of other programs: no slice is longer
 * than what the thread has used of the processor, which a slow machine makes longer for everything.
 */
export async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: everyMs })
  delays.enable()
  await another(delays)
  let isDone = false
  const end = work().finally(() => {
    isDone = true
  })
  // Handled below, also where it comes first.
  end.catch(() => {})
  const deadline = performance.now() + mostMs
  let computed = 0
  while (!isDone && performance.now() < deadline) {
    const begun = process.threadCpuUsage()
    await delay(everyMs)
    computed = Math.max(computed, millisecondsOf(process.threadCpuUsage(begun)))
  }
  await another(delays)
  delays.disable()
  if (!isDone) throw new Error(`The work was not done within ${mostMs} ms.`)
  await end
  const block = Math.min(computed, delays.max / 1e6)
  return block > everyMs * 10 ? block / slowness() : block
}

/** Until the histogram has counted once more: it counts a slice after its end, and none before its own beginning. */
async function another(delays: { count: number }): Promise<void> {
  const { count } = delays
  for (let looks = 0; looks < 1000 && delays.count === count; looks += 1) await delay(everyMs)
}
