import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isFullEndurance } from '#test/support/endurance.ts'
import { transitionsOf, windowAround, zones } from '#test/support/wall-clock-oracle.ts'
import { cronRuns, parseCron } from './cron.ts'

function runsOf(expression: string, timeZone: string, from: string, count: number): string[] {
  const runs = cronRuns(parseCron(expression), timeZone, Date.parse(from))
  return Array.from({ length: count }, () => new Date(Number(runs.next().value)).toISOString())
}

describe('times of a cron expression', () => {
  it.each([
    ['*/15 * * * *', 'UTC', '2026-01-01T00:10:00Z', ['2026-01-01T00:15:00.000Z', '2026-01-01T00:30:00.000Z']],
    ['0 9 * * mon', 'Asia/Tokyo', '2026-01-01T00:00:00Z', ['2026-01-05T00:00:00.000Z']],
    ['0 9 * * 7', 'UTC', '2026-01-01T00:00:00Z', ['2026-01-04T09:00:00.000Z']],
    ['0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', ['2028-02-29T00:00:00.000Z']],
    // Either matches: the 13th, or a Friday.
    ['0 0 13 * 5', 'UTC', '2026-01-09T00:00:00Z', ['2026-01-13T00:00:00.000Z', '2026-01-16T00:00:00.000Z']],
    [
      '0 0 13,*/2 * 5',
      'UTC',
      '2026-01-09T00:00:00Z',
      ['2026-01-11T00:00:00.000Z', '2026-01-13T00:00:00.000Z'],
    ],
    // Both match, since one of them begins with a star: the 1st or 21st, and a Friday.
    ['0 0 */20 * 5', 'UTC', '2026-01-18T00:00:00Z', ['2026-05-01T00:00:00.000Z', '2026-08-21T00:00:00.000Z']],
    [
      '0 0 */3 * 1-5/2',
      'UTC',
      '2026-06-01T00:00:00Z',
      ['2026-06-10T00:00:00.000Z', '2026-06-19T00:00:00.000Z'],
    ],
    [
      '0 0 */10,13 * 5',
      'UTC',
      '2026-01-09T00:00:00Z',
      ['2026-02-13T00:00:00.000Z', '2026-03-13T00:00:00.000Z'],
    ],
    [
      '0 0 8-14 * */7',
      'UTC',
      '2026-01-01T00:00:00Z',
      ['2026-01-11T00:00:00.000Z', '2026-02-08T00:00:00.000Z'],
    ],
    ['0 0 13 * */5', 'UTC', '2026-01-01T00:00:00Z', ['2026-02-13T00:00:00.000Z', '2026-03-13T00:00:00.000Z']],
    ['0 0 29 2 */7', 'UTC', '2061-01-01T00:00:00Z', ['2088-02-29T00:00:00.000Z', '2128-02-29T00:00:00.000Z']],
    [
      '0 0 */2 2 */2',
      'UTC',
      '2026-02-20T00:00:00Z',
      ['2026-02-21T00:00:00.000Z', '2027-02-07T00:00:00.000Z'],
    ],
    // 28 April is a Monday.
    ['0 0 1-7/3 4-5 1-2', 'UTC', '2025-04-28T00:00:00Z', ['2025-04-29T00:00:00.000Z']],
  ])('%s in %s after %s', (expression, zone, from, expected) => {
    expect(runsOf(expression, zone, from, expected.length)).toEqual(expected)
  })

  it.each([
    // The clock goes from 02:00 to 03:00.
    ['30 2 * * *', '2026-03-28T12:00:00Z', ['2026-03-29T01:30:00.000Z', '2026-03-30T00:30:00.000Z']],
    ['30 2,3 * * *', '2026-03-28T12:00:00Z', ['2026-03-29T01:30:00.000Z', '2026-03-30T00:30:00.000Z']],
    ['0,30 2 * * *', '2026-03-29T01:15:00Z', ['2026-03-29T01:30:00.000Z', '2026-03-30T00:00:00.000Z']],
    ['0,40 2,3 * * *', '2026-03-28T12:00:00Z', ['2026-03-29T01:00:00.000Z', '2026-03-29T01:40:00.000Z']],
    ['*/30 2 * * *', '2026-03-28T12:00:00Z', ['2026-03-30T00:00:00.000Z', '2026-03-30T00:30:00.000Z']],
    // And back from 03:00 to 02:00.
    ['30 2 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']],
    ['15,45 2 * * *', '2026-10-25T00:45:00Z', ['2026-10-26T01:15:00.000Z', '2026-10-26T01:45:00.000Z']],
    ['30 * * * *', '2026-10-25T00:00:00Z', ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']],
  ])('%s in Berlin after %s', (expression, from, expected) => {
    expect(runsOf(expression, 'Europe/Berlin', from, expected.length)).toEqual(expected)
  })

  it.each([
    ['* * * *', 'five fields'],
    ['0 0 * * * *', 'five fields'],
    ['@daily', 'five fields'],
    ['', 'five fields'],
    ['60 * * * *', '"60" as minute is none of 0 to 59'],
    ['* * * * MO', 'or SUN to SAT'],
    ['* * 0 * *', 'day of month'],
    ['0 0 L * *', 'day of month'],
    ['0 0 15W * *', 'day of month'],
    ['0 0 ? * *', 'day of month'],
    ['0 0 * * 5#2', 'day of week'],
    ['0 0 * * 6-2', 'ends before it begins'],
    ['*/0 * * * *', 'step'],
    ['*/61 * * * *', 'step'],
    ['5/15 * * * *', 'write 5-59/15'],
    ['1,,2 * * * *', 'minute'],
    ['0 0 30 2 *', 'never comes'],
    ['0 0 31 4,6,9,11 *', 'never comes'],
  ])('%s is refused with a sentence', (expression, part) => {
    expect(() => parseCron(expression)).toThrow(part)
    expect(() => parseCron(expression)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }))
  })
})

/** Intervals and fixed times around what happens at transitions, and one of each that is rare. */
const expressions = [
  '*/7 * * * *',
  '0 * * * *',
  '*/10 2 * * *',
  '30 */2 * * *',
  '30 1 * * *',
  '30 2 * * *',
  '15,45 1 * * *',
  '0,30 2,3 * * *',
  '0 0 * * *',
  '59 23 * * *',
  '5 0-4 * * *',
  '1-59/29 0-3/2 * * *',
  '0 3 * * 0',
  '*/20 0,1 1,15 * 6',
  '*/20 0,1 */2 * */3',
  '30 1 1-7 * */7',
]

/** Values of a field, from its text alone. */
function valuesOf(text: string, min: number, max: number): Set<number> {
  const values = text.split(',').flatMap(part => {
    const [range = '', step = '1'] = part.split('/')
    const [first = '', last = first] = range === '*' ? [String(min), String(max)] : range.split('-')
    const length = Number(last) - Number(first) + 1
    return Array.from({ length }, (_, index) => Number(first) + index).filter(
      value => (value - Number(first)) % Number(step) === 0,
    )
  })
  return new Set(values)
}

/** Whether a wall time matches: the rules as they are documented, with no thought of speed. */
function matcher(expression: string): (wall: number) => boolean {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = expression.split(' ')
  const minutes = valuesOf(minute, 0, 59)
  const hours = valuesOf(hour, 0, 23)
  const days = valuesOf(day, 1, 31)
  const months = valuesOf(month, 1, 12)
  const weekdays = new Set([...valuesOf(weekday, 0, 7)].map(value => value % 7))
  return wall => {
    const date = new Date(wall)
    const isDay = days.has(date.getUTCDate())
    const isWeekday = weekdays.has(date.getUTCDay())
    const isDate = day.startsWith('*') || weekday.startsWith('*') ? isDay && isWeekday : isDay || isWeekday
    const isTime = minutes.has(date.getUTCMinutes()) && hours.has(date.getUTCHours())
    return isTime && isDate && months.has(date.getUTCMonth() + 1)
  }
}

/** The runs in the window: of intervals whatever matches, of fixed times each wall time once, moved out of the gap. */
function bruteRuns(expression: string, window: ReturnType<typeof windowAround>): number[] {
  const matches = matcher(expression)
  const { minutes, begin, end } = window
  const [minute = '', hour = ''] = expression.split(' ')
  const isInterval = minute.startsWith('*') || hour.startsWith('*')
  const runs = isInterval
    ? minutes.filter(({ wall }) => matches(wall)).map(({ instant }) => instant)
    : wallTimesOf(minutes)
        .filter(matches)
        .map(wall => window.instantsAt(wall)[0] ?? wall - window.offsetBefore)
  return [...new Set(runs)].filter(run => run > begin && run <= end).toSorted((one, other) => one - other)
}

/** From the first to the last that the clock shows, those in the gap included. */
function wallTimesOf(minutes: readonly { wall: number }[]): number[] {
  const [first = 0, last = 0] = [minutes[0]?.wall, minutes.at(-1)?.wall]
  return Array.from({ length: (last - first) / 60_000 + 1 }, (_, index) => first + index * 60_000)
}

describe.each(zones)('around the transitions of 20 years in %s', zone => {
  const all = transitionsOf(zone)
  const tried = isFullEndurance ? all : all.filter((_, index) => index % 10 === 0)

  it('times are those of brute force', () => {
    expect(all.length > 0 || zone === 'UTC').toBe(true)
    for (const transition of tried) {
      const window = windowAround(zone, transition)
      for (const expression of expressions) {
        const found: number[] = []
        for (const run of cronRuns(parseCron(expression), zone, window.begin)) {
          if (run > window.end) break
          found.push(run)
        }
        expect(found, `${expression} at ${new Date(transition).toISOString()}`).toEqual(
          bruteRuns(expression, window),
        )
      }
    }
  })
})

const fixtures = process.env.REAL_FIXTURES ?? ''

interface Row {
  expr: string
  from: string
  tz: string
  next: string[]
  kind: 'standard' | 'extension' | 'disputed'
}

describe.skipIf(fixtures === '')('tables of other libraries (needs REAL_FIXTURES)', () => {
  const read = <Rows>(name: string): Rows =>
    JSON.parse(fixtures === '' ? '[]' : readFileSync(`${fixtures}/cron/${name}`, 'utf8'))
  const rows = read<Row[]>('next-runs.json')

  it('give the same times for what all of them understand', () => {
    const standard = rows.filter(({ kind }) => kind === 'standard')
    expect(standard.length).toBeGreaterThan(70)
    for (const { expr, tz, from, next } of standard)
      if (next.length === 0) expect(() => parseCron(expr), expr).toThrow('never comes')
      else expect(runsOf(expr, tz, from, next.length), expr).toEqual(next)
  })

  it('have extensions that are refused, and times that are disputed', () => {
    for (const { expr } of rows.filter(({ kind }) => kind === 'extension'))
      expect(() => parseCron(expr), expr).toThrow('cron_expression')
    for (const { expr } of rows.filter(({ kind }) => kind === 'disputed'))
      expect(() => parseCron(expr), expr).not.toThrow()
  })

  it('refuse the same', () => {
    for (const { expr } of read<{ expr: string }[]>('invalid.json'))
      expect(() => parseCron(expr), expr).toThrow('cron_expression')
  })
})
