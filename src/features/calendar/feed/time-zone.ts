import { nextTransition, offsetAt } from '#platform/time/zones.ts'
import { dateTime } from './content-lines.ts'

/** Yields the zone's offsets within a time, each change separately: programs disagree on rules. */
export function* timeZoneLines(timeZone: string, from: number, to: number): Generator<string> {
  yield 'BEGIN:VTIMEZONE'
  yield `TZID:${timeZone}`
  const first = offsetAt(from, timeZone)
  yield* observance('STANDARD', from, first, first)
  let time = nextTransition(from, timeZone)
  while (time !== undefined && time < to) {
    const [before, after] = [offsetAt(time - 1, timeZone), offsetAt(time, timeZone)]
    yield* observance(after > before ? 'DAYLIGHT' : 'STANDARD', time, before, after)
    time = nextTransition(time, timeZone)
  }
  yield 'END:VTIMEZONE'
}

function* observance(kind: 'STANDARD' | 'DAYLIGHT', time: number, before: number, after: number) {
  yield `BEGIN:${kind}`
  yield `DTSTART:${dateTime(time + before)}`
  yield `TZOFFSETFROM:${offset(before)}`
  yield `TZOFFSETTO:${offset(after)}`
  yield `END:${kind}`
}

function offset(milliseconds: number): string {
  const seconds = Math.abs(milliseconds) / 1000
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const [hours = '', minutes = '', rest = ''] = parts.map(part => String(part).padStart(2, '0'))
  return `${milliseconds < 0 ? '-' : '+'}${hours}${minutes}${rest === '00' ? '' : rest}`
}
