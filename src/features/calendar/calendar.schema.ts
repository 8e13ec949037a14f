import { type Static, Type } from 'typebox'
import { listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'
import type { Recurrence } from '#platform/time/recurrence.ts'

/*
 * Task: something that takes place at a time, once or repeatedly. Occurrence: one of its times. Series: all.
 *
 * pending --its time comes, it has a workflow--> running --the workflow ends--> completed | failed
 * People set any status but `running`, for an occurrence or the whole task; only `pending` tasks occur.
 */

const recurrences = ['none', 'daily', 'weekly', 'monthly'] as const satisfies Recurrence[]
const statuses = ['pending', 'completed', 'failed', 'cancelled'] as const

const time = Type.String({ format: 'date-time' })
const writtenTime = {
  maxLength: 100,
  description: 'ISO 8601; without an offset or a zone in brackets, in `timezone`.',
}

const writable = {
  description: Type.String({ maxLength: 20_000 }),
  start_time: Type.String({ ...writtenTime, examples: ['2027-01-31T09:00:00Z'] }),
  end_time: orNull(Type.String(writtenTime)),
  timezone: Type.String({ maxLength: 64, description: 'IANA name of the time zone. Default: UTC.' }),
  recurrence: Type.Enum([...recurrences]),
  recurrence_days: Type.Array(Type.Integer({ minimum: 0, maximum: 6 }), {
    maxItems: 7,
    description: 'Weekdays of a `weekly` task, 0 = Sunday. Default: the weekday of `start_time`.',
  }),
  recurrence_end: orNull(Type.String({ maxLength: 100, description: 'Latest start, as a time or a day.' })),
  exceptions: Type.Array(Type.String({ format: 'date' }), {
    maxItems: 1_000,
    description: 'Dates in `timezone` without an occurrence.',
  }),
  workflow_id: orNull(
    Type.String({ maxLength: 64, description: 'Id of the workflow that runs at `start_time`.' }),
  ),
}
const title = Type.String({ minLength: 1, maxLength: 300, pattern: '\\S', examples: ['Stand-up'] })
const { start_time, ...others } = writable

export const newTaskSchema = Type.Object({
  title,
  start_time,
  ...Type.Partial(Type.Object(others)).properties,
})
export type NewTask = Static<typeof newTaskSchema>

export const taskChangesSchema = Type.Object(
  {
    ...Type.Partial(Type.Object({ title, ...writable })).properties,
    status: Type.Optional(Type.Enum([...statuses])),
    occurrence: Type.Optional(
      Type.String({ ...writtenTime, description: 'Start of the occurrence whose `status` is set.' }),
    ),
  },
  { minProperties: 1, examples: [{ status: 'completed' }] },
)
export type TaskChanges = Static<typeof taskChangesSchema>

const status = Type.Enum(['pending', 'running', 'completed', 'failed', 'cancelled'])
const task = {
  id: Type.String(),
  title: Type.String(),
  description: Type.String(),
  start_time: time,
  end_time: orNull(time),
  timezone: Type.String(),
  recurrence: Type.Enum([...recurrences]),
  recurrence_days: Type.Array(Type.Integer()),
  recurrence_end: orNull(time),
  exceptions: Type.Array(Type.String()),
  workflow_id: orNull(Type.String()),
  status,
  next_due: Type.Unsafe<string | null>({ ...orNull(time), description: 'Start of the next occurrence.' }),
  created_at: time,
  updated_at: time,
}

const occurrenceSchema = Type.Object(
  {
    starts_at: time,
    status,
    error: orNull(Type.String()),
    workflow_execution_id: orNull(Type.String()),
  },
  { title: 'TaskOccurrence' },
)

export const taskSchema = Type.Object(
  {
    ...task,
    occurrences: Type.Array(occurrenceSchema, {
      description: 'The last 100 occurrences that have started, newest first.',
    }),
  },
  { title: 'CalendarTask' },
)
export type Task = Static<typeof taskSchema>

export const listedTaskSchema = Type.Object(task, { title: 'ListedCalendarTask' })
export type ListedTask = Static<typeof listedTaskSchema>
export const taskListQuery = Type.Object({
  ...listParameters,
  start: Type.Optional(
    Type.String({
      description: 'Earliest time, ISO 8601. With `start` or `end`, each occurrence is an entry.',
    }),
  ),
  end: Type.Optional(
    Type.String({
      description:
        'Latest time, at most 366 days after `start`. A date without a time means the end of that day.',
    }),
  ),
})
export type TaskListQuery = Static<typeof taskListQuery>

export const feedSchema = Type.Object({ url: Type.String() })
