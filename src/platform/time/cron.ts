import { Cron } from 'croner'
import { type AppError, invalid } from '../errors.ts'
import { instantOf, nextTransition, offsetAt } from './zones.ts'

export interface CronExpression {
  /** Returns its wall times, as times of a clock in UTC. */
  wall: Cron
  /** True if minute or hour begins with `*`, which is a rhythm and no times of the day. */
  isInterval: boolean
}

interface Field {
  name: string
  min: number
  max: number
  names?: readonly string[]
}

const fields: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ') },
  { name: 'day of week', min: 0, max: 7, names: 'SUN MON TUE WED THU FRI SAT'.split(' ') },
]

/** Max gap: a zone that crosses the date line skips a day. */
const maxGapMs = 25 * 3_600_000

/** @throws AppError VALIDATION_ERROR */
export function parseCron(expression: string): CronExpression {
  const parts = expression.trim().split(/\s+/)
  if (parts.length !== fields.length)
    throw refused(
      `needs five fields (minute, hour, day of month, month, day of week) and not ${parts.length}; @daily and the like are not known`,
    )
  for (const [index, field] of fields.entries()) checkField(parts[index] ?? '', field)
  // Like in cron, a day has to fit both fields if one of them begins with `*`, with or without a step.
  const domAndDow = [parts[2], parts[4]].some(part => part?.startsWith('*'))
  const wall = new Cron(parts.join(' '), { paused: true, mode: '5-part', timezone: 'UTC', domAndDow })
  if (wall.nextRun(new Date(0)) === null) throw refused('names a date that never comes')
  return { wall, isInterval: parts.slice(0, 2).some(part => part.startsWith('*')) }
}

function checkField(text: string, field: Field): void {
  for (const part of text.split(',')) {
    const [, first, last, step] = /^(\*|\w+?)(?:-(\w+))?(?:\/(\d{1,3}))?$/.exec(part) ?? []
    if (first === undefined || (first === '*' && last !== undefined))
      throw refused(`"${part}" as ${field.name} is neither *, a value, a range nor one of these with a step`)
    if (step !== undefined && first !== '*' && last === undefined)
      throw refused(
        `"${part}" as ${field.name} has a step without a range; write ${first}-${field.max}/${step}`,
      )
    if (step !== undefined && (Number(step) === 0 || Number(step) > field.max))
      throw refused(`"${part}" as ${field.name} has a step that is none of 1 to ${field.max}`)
    if (first === '*') continue
    const begin = fieldValue(first, field)
    if (last !== undefined && fieldValue(last, field) < begin)
      throw refused(`"${part}" as ${field.name} ends before it begins; write two ranges, and Sunday as 7`)
  }
}

function fieldValue(text: string, { name, min, max, names = [] }: Field): number {
  const place = names.indexOf(text.toUpperCase())
  const value = /^\d{1,2}$/.test(text) ? Number(text) : place < 0 ? Number.NaN : place + min
  if (value >= min && value <= max) return value
  const others = names.length === 0 ? '' : `, or ${names[0]} to ${names.at(-1)}`
  throw refused(`"${text}" as ${name} is none of ${min} to ${max}${others}`)
}

function refused(issue: string): AppError {
  return invalid('cron_expression', issue)
}

/** Yields every instant behind `after` at which it runs, in order and without an end. */
export function cronRuns(cron: CronExpression, timeZone: string, after: number): Generator<number> {
  return cron.isInterval ? intervals(cron.wall, timeZone, after) : fixedTimes(cron.wall, timeZone, after)
}

/** Yields every instant whose wall time matches: an hour that occurs twice counts twice, a gap not at all. */
function* intervals(wall: Cron, timeZone: string, after: number): Generator<number> {
  for (let begin = after + 1; begin < Number.POSITIVE_INFINITY; ) {
    const offset = offsetAt(begin, timeZone)
    const end = nextTransition(begin, timeZone) ?? Number.POSITIVE_INFINITY
    for (const time of wallTimes(wall, begin + offset - 1)) {
      if (time - offset >= end) break
      yield time - offset
    }
    begin = end
  }
}

/** Yields each wall time once, moved out of gaps; two that so fall on the same instant are one. */
function* fixedTimes(wall: Cron, timeZone: string, after: number): Generator<number> {
  const hasMoved = offsetAt(after, timeZone) !== offsetAt(after - maxGapMs, timeZone)
  const begin = after + offsetAt(after, timeZone) - (hasMoved ? maxGapMs : 0)
  let last = after
  let found: number[] = []
  for (const time of wallTimes(wall, begin)) {
    const instant = instantOf(time, timeZone)
    found.push(instant)
    // Times that a gap has moved can be later than times after the gap, but no later than this one.
    if (instant + offsetAt(instant, timeZone) !== time) continue
    for (const next of found.filter(one => one <= instant).toSorted((one, other) => one - other)) {
      if (next > last) yield next
      last = Math.max(last, next)
    }
    found = found.filter(one => one > instant)
  }
}

function* wallTimes(wall: Cron, after: number): Generator<number> {
  for (let time = wall.nextRun(new Date(after)); time !== null; time = wall.nextRun(time))
    yield time.getTime()
}
