import { setTimeout as delay } from 'node:timers/promises'
import { isBusy } from './errors.ts'

const minPause = 1
const maxPause = 5
/** Time of waiting between two reports of it (ms). */
const reportEvery = 1_000

/**
 * Runs `attempt` until the database is not busy, with growing pauses in which the thread is free for other work. After
 * `timeout` milliseconds, the last attempt's error is thrown. `onBlocked` is called for each second of waiting.
 *
 * SQLite has no queue of writers: a writer with many transactions, such as a worker, lets others in only if it pauses
 * between them for longer than the longest pause here.
 */
export async function tryUntilFree<Result>(
  attempt: () => Result,
  timeout: number,
  onBlocked: () => void = () => {},
): Promise<Result> {
  const begin = performance.now()
  const giveUpAt = begin + timeout
  let reportAt = begin + reportEvery
  for (let pause = minPause; ; pause = Math.min(pause * 2, maxPause)) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() + pause > giveUpAt) throw error
    }
    if (performance.now() >= reportAt) {
      reportAt += reportEvery
      onBlocked()
    }
    await delay(pause)
  }
}
