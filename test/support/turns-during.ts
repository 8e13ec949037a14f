import { setImmediate as nextTurn } from 'node:timers/promises'

/** How many turns of the event loop others get until the work is done. */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let isDone = false
  const end = work.finally(() => {
    isDone = true
  })
  let turns = 0
  for (; !isDone; turns += 1) await nextTurn()
  await end
  return turns
}
