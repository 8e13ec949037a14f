import { setImmediate as nextTurn } from 'node:timers/promises'
import { millisecondsOf } from './processor-time.ts'

/** The longest that this thread computes in one turn of the event loop until the work is done, in milliseconds of the processor. */
export async function longestSlice(work: Promise<unknown>): Promise<number> {
  let isDone = false
  const end = work.finally(() => {
    isDone = true
  })
  let longest = 0
  while (!isDone) {
    const begun = process.threadCpuUsage()
    await nextTurn()
    longest = Math.max(longest, millisecondsOf(process.threadCpuUsage(begun)))
  }
  await end
  return longest
}
