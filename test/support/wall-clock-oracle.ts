/** What wall clocks show around transitions, minute by minute, as the engine's own formatter says. */

/** With gaps of an hour, half an hour (Lord Howe), two hours (Troll), and a day (Apia in 2011); some at midnight. */
export const zones = [
  'UTC',
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  'America/St_Johns',
  'America/Sao_Paulo',
  'Australia/Lord_Howe',
  'Antarctica/Troll',
  'Africa/Casablanca',
  'Asia/Tehran',
  'Pacific/Apia',
  'Asia/Beirut',
]

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const firstDay = Date.UTC(2011, 0, 1)
const lastDay = Date.UTC(2031, 0, 1)

function wallClock(timeZone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  return instant => {
    const [day, month, year, hour, minute] = format.format(instant).match(/\d+/g)?.map(Number) ?? []
    return Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute)
  }
}

/** The first instants with another offset, in 20 years. */
export function transitionsOf(timeZone: string): number[] {
  const wall = wallClock(timeZone)
  const offset = (instant: number) => wall(instant) - instant
  const found: number[] = []
  for (let instant = firstDay; instant < lastDay; instant += 6 * hourMs) {
    if (offset(instant) === offset(instant + 6 * hourMs)) continue
    let minute = instant + minuteMs
    while (offset(minute) === offset(instant)) minute += minuteMs
    found.push(minute)
  }
  return found
}

export interface WallClockWindow {
  /** Results are complete behind the first and up to the last. */
  begin: number
  end: number
  /** Instants by wall time; a wall time in the gap has none. */
  instantsAt(wallTime: number): readonly number[]
  /** Instants and what the clock shows. */
  minutes: readonly { instant: number; wall: number }[]
  /** Of the clock before the transition. */
  offsetBefore: number
}

/** Two days before the transition to two days after it. */
export function windowAround(timeZone: string, transition: number): WallClockWindow {
  const wall = wallClock(timeZone)
  const first = transition - 2 * dayMs
  const minutes = Array.from({ length: (4 * dayMs) / minuteMs }, (_, index) => {
    const instant = first + index * minuteMs
    return { instant, wall: wall(instant) }
  })
  const byWall = new Map<number, number[]>()
  for (const minute of minutes) byWall.set(minute.wall, [...(byWall.get(minute.wall) ?? []), minute.instant])
  return {
    begin: transition - 30 * hourMs,
    end: transition + 30 * hourMs,
    instantsAt: wallTime => byWall.get(wallTime) ?? [],
    minutes,
    offsetBefore: wall(transition - minuteMs) - (transition - minuteMs),
  }
}
