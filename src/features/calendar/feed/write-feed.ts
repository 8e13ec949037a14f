/** The calendar as iCalendar. Loaded at its first use, with the library for time zones. */
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { occurrencesOf, tasksWithin } from '../calendar.repository.ts'
import { escapeText, toText } from './content-lines.ts'
import { isZoned, taskLines } from './task-events.ts'
import { timeZoneLines } from './time-zone.ts'

const yearMs = 366 * 86_400_000
/** Number of future years for which changes of time zones are listed. */
const years = 10

interface Feed {
  /** The calendar's name. */
  name: string
  /** Milliseconds since the epoch. */
  now: number
}

export async function writeFeed(db: AgentHandle['db'], { name, now }: Feed): Promise<string> {
  /** Zones, and the earliest time that an event has in each. */
  const zones = new Map<string, number>()
  let events = ''
  for await (const tasks of tasksWithin(db, {})) {
    const settled = await occurrencesOf(
      db,
      tasks.map(({ id }) => id),
    )
    const cancelled = settled.filter(({ status }) => status === 'cancelled')
    for (const task of tasks) {
      const times = cancelled.filter(({ task_id }) => task_id === task.id).map(({ starts_at }) => starts_at)
      events += toText(taskLines(task, times))
      const { timezone } = task
      if (isZoned(task))
        zones.set(timezone, Math.min(zones.get(timezone) ?? now, Date.parse(task.start_time)))
      await yieldToOthers()
    }
  }
  const begin = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//agentstead//calendar//EN', 'CALSCALE:GREGORIAN']
  const head = [...begin, 'METHOD:PUBLISH', `X-WR-CALNAME:${escapeText(name)}`]
  const horizon = Date.UTC(new Date(now).getUTCFullYear() + years)
  let zoneText = ''
  for (const [zone, first] of zones) {
    zoneText += toText(timeZoneLines(zone, first - yearMs, horizon))
    await yieldToOthers()
  }
  return (
    toText([...head, 'REFRESH-INTERVAL;VALUE=DURATION:PT1H']) + zoneText + events + toText(['END:VCALENDAR'])
  )
}
