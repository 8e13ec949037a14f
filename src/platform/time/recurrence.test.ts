import { describe, expect, it } from 'vitest'
import { isFullEndurance } from '#test/support/endurance.ts'
import { transitionsOf, windowAround, zones } from '#test/support/wall-clock-oracle.ts'
import { occurrences, type Series } from './recurrence.ts'
import { offsetAt } from './zones.ts'

const none = {
  timezone: 'UTC',
  recurrence: 'none',
  recurrence_days: [],
  recurrence_end: null,
  exceptions: [],
} as const

function first(count: number, series: Partial<Series> & { start_time: string }, from?: string): string[] {
  const found = occurrences(
    { ...none, ...series } as Series,
    from === undefined ? undefined : Date.parse(from),
  )
  return [...found.take(count)].map(time => new Date(time).toISOString())
}

const dates = (times: string[]) => times.map(time => time.slice(0, 10))

describe('occurrences', () => {
  const start_time = '2026-01-31T09:00:00.000Z'

  it('without a recurrence are one', () => {
    expect(first(3, { start_time })).toEqual([start_time])
    expect(first(3, { start_time }, '2026-01-31T09:00:00.001Z')).toEqual([])
  })

  it('of a month without the day are on its last one, and on the day again in the next', () => {
    const monthly = { start_time, recurrence: 'monthly' } as const
    expect(dates(first(5, monthly))).toEqual([
      '2026-01-31',
      '2026-02-28',
      '2026-03-31',
      '2026-04-30',
      '2026-05-31',
    ])
    expect(dates(first(2, monthly, '2028-02-01T00:00:00Z'))).toEqual(['2028-02-29', '2028-03-31'])
  })

  it('of a week are on its days, from the first of these on', () => {
    // 31 January is a Saturday.
    const weekly = { start_time, recurrence: 'weekly', recurrence_days: [1, 6] } as const
    expect(dates(first(3, weekly as never))).toEqual(['2026-01-31', '2026-02-02', '2026-02-07'])
    expect(dates(first(1, { ...weekly, recurrence_days: [0] }))).toEqual(['2026-02-01'])
  })

  it('leave out exceptions, and end with the series', () => {
    const daily = { start_time, recurrence: 'daily', exceptions: ['2026-02-01'] } as const
    const recurrence_end = '2026-02-03T09:00:00.000Z'
    expect(dates(first(9, { ...daily, exceptions: [...daily.exceptions], recurrence_end }))).toEqual([
      '2026-01-31',
      '2026-02-02',
      '2026-02-03',
    ])
  })

  it('keep their wall time: moved out of gaps, the first of two, on the days of the zone', () => {
    const berlin = { timezone: 'Europe/Berlin', recurrence: 'daily' } as const
    expect(first(3, { ...berlin, start_time: '2026-03-28T01:30:00.000Z' })).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-29T01:30:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
    expect(first(2, { ...berlin, start_time: '2026-10-24T00:30:00.000Z' })).toEqual([
      '2026-10-24T00:30:00.000Z',
      '2026-10-25T00:30:00.000Z',
    ])
    // Half past midnight on the 31st in Berlin.
    expect(first(2, { ...berlin, recurrence: 'monthly', start_time: '2026-03-30T22:30:00.000Z' })).toEqual([
      '2026-03-30T22:30:00.000Z',
      '2026-04-29T22:30:00.000Z',
    ])
  })
})

/** Whether it takes place on the day that a wall time is on: the rules as they are documented. */
function takesPlace({ recurrence, recurrence_days }: Series, start: Date, wallTime: number): boolean {
  const date = new Date(wallTime)
  if (recurrence === 'daily') return true
  if (recurrence === 'weekly') return recurrence_days.includes(date.getUTCDay())
  const tomorrow = new Date(wallTime + 86_400_000)
  const isLast = tomorrow.getUTCDate() === 1
  return date.getUTCDate() === start.getUTCDate() || (isLast && date.getUTCDate() < start.getUTCDate())
}

/** A series from 2010 on, at these minutes of the day. */
function seriesAt(minutes: number, timezone: string, recurrence: Series['recurrence']): Series {
  const wall = seriesStart(minutes)
  const start = wall - offsetAt(wall - offsetAt(wall, timezone), timezone)
  return {
    start_time: new Date(start).toISOString(),
    timezone,
    recurrence,
    recurrence_days: [0, 3, 6],
    recurrence_end: null,
    exceptions: [],
  }
}

function seriesStart(minutes: number): number {
  return Date.UTC(2010, 0, 31) + minutes * 60_000
}

/** Every minute that the clock could show, held against the rules. */
function bruteForce(series: Series, minutes: number, window: ReturnType<typeof windowAround>): number[] {
  const start = new Date(seriesStart(minutes))
  const [first = 0, last = 0] = [window.minutes[0]?.wall, window.minutes.at(-1)?.wall]
  const wallTimes = Array.from({ length: (last - first) / 60_000 + 1 }, (_, index) => first + index * 60_000)
  const found = wallTimes
    .filter(wall => (wall / 60_000) % 1_440 === minutes && takesPlace(series, start, wall))
    .map(wall => window.instantsAt(wall)[0] ?? wall - window.offsetBefore)
    .filter(instant => instant > window.begin && instant <= window.end)
  return [...new Set(found)].toSorted((one, other) => one - other)
}

function within(series: Series, { begin, end }: { begin: number; end: number }): number[] {
  const found: number[] = []
  for (const instant of occurrences(series, begin + 1)) {
    if (instant > end) break
    found.push(instant)
  }
  return found
}

describe.each(zones)('around the transitions of 20 years in %s', timezone => {
  const all = transitionsOf(timezone)
  const tried = isFullEndurance ? all : all.filter((_, index) => index % 10 === 0)

  it.each(['daily', 'weekly', 'monthly'] as const)(
    'those of a %s series are those of brute force',
    recurrence => {
      expect(all.length > 0 || timezone === 'UTC').toBe(true)
      for (const transition of tried) {
        const window = windowAround(timezone, transition)
        for (const minutes of [0, 30, 90, 120, 150, 180, 1_439]) {
          const series = seriesAt(minutes, timezone, recurrence)
          const what = `at minute ${minutes} around ${new Date(transition).toISOString()}`
          expect(within(series, window), what).toEqual(bruteForce(series, minutes, window))
        }
      }
    },
  )
})
