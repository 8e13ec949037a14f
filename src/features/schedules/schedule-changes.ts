import { invalid } from '#platform/errors.ts'
import { parseCron } from '#platform/time/cron.ts'
import { isTimeZone, readTime } from '#platform/time/zones.ts'
import { toText } from './runs.ts'
import type { ScheduleRow } from './schedules.repository.ts'
import type { ScheduleChanges } from './schedules.schema.ts'

/** The field that says when, by type. */
const timeFields = { cron: 'cron_expression', once: 'next_run', delayed: 'delay_seconds' } as const

export const unset = {
  name: '',
  cron_expression: null,
  delay_seconds: null,
  timezone: 'UTC',
  callback_type: '',
  callback_id: null,
  callback_data: '{}',
  overlap: 'skip',
  status: 'active',
  next_run: null,
  last_run: null,
  updated_at: '',
}

export function saysWhen(changes: ScheduleChanges): boolean {
  return Object.values({ ...timeFields, zone: 'timezone' as const }).some(
    field => changes[field] !== undefined,
  )
}

/** @throws AppError VALIDATION_ERROR */
export function withChanges(before: ScheduleRow, changes: ScheduleChanges, updated_at: string): ScheduleRow {
  const { callback_data = JSON.parse(before.callback_data), next_run, ...others } = changes
  const changed = { ...before, ...others, callback_data: JSON.stringify(callback_data), updated_at }
  const { type, timezone } = changed
  const own = timeFields[type as keyof typeof timeFields]
  if (!isTimeZone(timezone)) throw invalid('timezone', 'must be a name such as Europe/Berlin')
  const strange = Object.values(timeFields).find(field => field !== own && changes[field] !== undefined)
  if (strange !== undefined) throw invalid(strange, `is not for the type ${type}; set ${own}`)
  const time = next_run === undefined ? undefined : readTime(next_run, timezone)
  if (next_run !== undefined && time === undefined)
    throw invalid('next_run', 'must be an ISO 8601 time, such as 2027-01-31T09:00:00Z')
  if (time !== undefined) changed.next_run = toText(time)
  if (changed.cron_expression !== null) parseCron(changed.cron_expression)
  if (before.status === 'completed' && saysWhen(changes)) changed.status = changes.status ?? 'active'
  if (changed.status !== 'completed' && changed[own] === null)
    throw invalid(own, `is needed by the type ${type}`)
  return changed
}

/** What the callback is about, where that has to be checked. @throws AppError VALIDATION_ERROR */
export function requireCallback({ callback_type, callback_id, callback_data }: ScheduleRow) {
  const { content, url } = JSON.parse(callback_data)
  if (callback_type === 'workflow' && callback_id === null)
    throw invalid('callback_id', 'must be the id of a workflow')
  if (callback_type === 'chat' && content === undefined)
    throw invalid('callback_data.content', 'must be the message to the agent')
  if (callback_type === 'webhook' && url === undefined)
    throw invalid('callback_data.url', 'must be the address to send to')
  return {
    workflow: callback_type === 'workflow' ? (callback_id ?? undefined) : undefined,
    url: callback_type === 'webhook' ? String(url) : undefined,
  }
}
