import { type Static, Type } from 'typebox'
import { maxMessageLength } from '#features/chat/chat.feature.ts'
import { filterBy, listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'

/*
 * Schedule: work of an agent at a set time, after a delay, or repeatedly. Callback: the work itself.
 * Execution: one of the times, with the end of its callback. Missed: a time at which nothing was started,
 * with the reason.
 *
 * active <--pause, resume--> paused; active --a `once` or `delayed` one ran--> completed --new time--> active
 */

const scheduleTypes = ['once', 'delayed', 'cron'] as const
const scheduleStatuses = ['active', 'paused', 'completed'] as const

const time = Type.String({ format: 'date-time' })
const timeOrNull = orNull(time)
const text = orNull(Type.String())

const callbackData = Type.Object(
  {
    content: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: maxMessageLength,
        description: 'Message to send, for the type `chat`.',
      }),
    ),
    url: Type.Optional(Type.String({ maxLength: 2048, description: 'URL to call, for the type `webhook`.' })),
  },
  {
    additionalProperties: Type.Unknown(),
    description: 'Input of the workflow, or additional data for the webhook.',
  },
)

const changeable = {
  cron_expression: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'For the type `cron`: minute, hour, day, month, day of week.',
    }),
  ),
  next_run: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'For the type `once`: ISO 8601; without an offset or a zone in brackets, in `timezone`.',
    }),
  ),
  delay_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 366 * 86_400,
      description: 'For the type `delayed`: seconds from now.',
    }),
  ),
  timezone: Type.Optional(
    Type.String({ maxLength: 64, description: 'IANA name of the time zone. Default: UTC.' }),
  ),
  callback_id: Type.Optional(orNull(Type.String({ maxLength: 64, description: 'Id of the workflow.' }))),
  callback_data: Type.Optional(callbackData),
  overlap: Type.Optional(
    Type.Enum(['skip', 'queue'], {
      description: 'Whether a run is skipped or queued if the one before is still running.',
    }),
  ),
  status: Type.Optional(Type.Enum(['active', 'paused'])),
}
const name = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', examples: ['Morning report'] })
const callbackType = Type.Enum(['workflow', 'chat', 'webhook'], { examples: ['chat'] })

export const newScheduleSchema = Type.Object(
  {
    name,
    type: Type.Enum([...scheduleTypes], { examples: ['cron'] }),
    callback_type: callbackType,
    ...changeable,
  },
  {
    examples: [
      {
        name: 'Morning report',
        type: 'cron',
        cron_expression: '0 9 * * mon-fri',
        callback_type: 'chat',
        callback_data: { content: 'What is new?' },
      },
    ],
  },
)
export type NewSchedule = Static<typeof newScheduleSchema>

export const scheduleChangesSchema = Type.Object(
  { name: Type.Optional(name), ...changeable },
  { minProperties: 1, examples: [{ status: 'paused' }] },
)
export type ScheduleChanges = Static<typeof scheduleChangesSchema>

const summary = {
  id: Type.String(),
  name: Type.String(),
  type: Type.Enum([...scheduleTypes]),
  cron_expression: text,
  delay_seconds: orNull(Type.Integer()),
  timezone: Type.String(),
  callback_type: callbackType,
  callback_id: text,
  callback_data: Type.Record(Type.String(), Type.Unknown()),
  overlap: Type.String(),
  status: Type.Enum([...scheduleStatuses]),
  next_run: timeOrNull,
  last_run: timeOrNull,
  created_at: time,
  updated_at: time,
}
export const listedScheduleSchema = Type.Object(summary, { title: 'ScheduleSummary' })

export const executionSchema = Type.Object(
  {
    id: Type.String(),
    scheduled_for: Type.Unsafe<string | null>({
      ...timeOrNull,
      description: 'Null if a person started it.',
    }),
    executed_at: timeOrNull,
    status: Type.Enum(['queued', 'running', 'success', 'error', 'missed']),
    error: Type.Unsafe<string | null>({ ...text, description: 'Why it failed or was missed.' }),
    workflow_execution_id: text,
    late_seconds: Type.Integer(),
    count: Type.Optional(Type.Integer({ description: 'Number of missed times between `from` and `to`.' })),
    from: Type.Optional(time),
    to: Type.Optional(time),
  },
  { title: 'ScheduleExecution' },
)
export type ScheduleExecution = Static<typeof executionSchema>

export const scheduleSchema = Type.Object(
  {
    ...summary,
    next_runs: Type.Array(time, { description: 'The next five times.' }),
    executions: Type.Array(executionSchema, {
      description: 'The last 100 finished executions, newest first.',
    }),
    current: Type.Array(executionSchema, { description: 'Running and queued executions.' }),
  },
  { title: 'Schedule' },
)
export type Schedule = Static<typeof scheduleSchema>

export const scheduleListQuery = Type.Object({
  ...listParameters,
  status: filterBy(Type.Enum([...scheduleStatuses])),
  type: filterBy(Type.Enum([...scheduleTypes])),
})
export type ScheduleListQuery = Static<typeof scheduleListQuery>
