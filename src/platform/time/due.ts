import { setImmediate as yieldToOthers } from 'node:timers/promises'

/** The work of a timer. Times are milliseconds since the epoch. */
export interface Due {
  /** The latest time that is due; undefined if none is. */
  run: number | undefined
  /** The earlier times, at which it did not run. */
  missed: { from: number; to: number; count: number } | undefined
  next: number | undefined
}

/** Max times that are counted in a turn of the event loop. */
const batch = 200

/** @param times from that of the timer on, in order, possibly without an end. */
export async function findDue(times: Iterable<number>, now: number): Promise<Due> {
  let run: Due['run']
  let missed: Due['missed']
  for (const time of times) {
    if (time > now) return { run, missed, next: time }
    if (run !== undefined) missed = { from: missed?.from ?? run, to: run, count: (missed?.count ?? 0) + 1 }
    run = time
    if (missed !== undefined && missed.count % batch === 0) await yieldToOthers()
  }
  return { run, missed, next: undefined }
}
