import type { Static } from 'typebox'
import { Type } from 'typebox'
import { listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'
import type { Recurrence } from '#platform/time/recurrence.ts'

/*
 * Task: something that takes place at a time, once or again and again. Occurrence: one of its times. Series: all of them.
 *
 * pending --its time comes, it has a workflow--> running --the workflow ends--> completed | failed
 * People set any status but `running`: of an occurrence, or of the whole task, which then takes place only while `pending`.
 */

const recurrences = ['none', 'daily', 'weekly', 'monthly'] as const satisfies Recurrence[]
const statuses = ['pending', 'completed', 'failed', 'cancelled'] as const

const time = Type.String({ format: 'date-time' })
const writtenTime = { maxLength: 40, description: 'ISO 8601; in `timezone` where it has no offset.' }

const writable = {
  description: Type.String({ maxLength: 20_000 }),
  start_time: Type.String({ ...writtenTime, examples: ['2027-01-31T09:00:00Z'] }),
  end_time: orNull(Type.String(writtenTime)),
  timezone: Type.String({ maxLength: 64, description: 'IANA name; UTC unless given.' }),
  recurrence: Type.Enum([...recurrences]),
  recurrence_days: Type.Array(Type.Integer({ minimum: 0, maximum: 6 }), {
    maxItems: 7,
    description: 'Days of the week of a `weekly` task, 0 = Sunday; that of `start_time` unless given.',
  }),
  recurrence_end: orNull(
    Type.String({ maxLength: 40, description: 'The last time, or the last day, at which it begins.' }),
  ),
  exceptions: Type.Array(Type.String({ format: 'date' }), {
    maxItems: 1_000,
    description: 'Dates in `timezone` on which it does not take place.',
  }),
  workflow_id: orNull(Type.String({ maxLength: 64, description: 'The workflow to run at `start_time`.' })),
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
      Type.String({ ...writtenTime, description: 'Start of the one occurrence whose `status` is set.' }),
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
  next_due: Type.Unsafe<string | null>({ ...orNull(time), description: 'When it takes place next.' }),
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
    occurrences: Type.Array(occurrenceSchema, { description: 'The last 100 that have begun, newest first.' }),
  },
  { title: 'CalendarTask' },
)
export type Task = Static<typeof taskSchema>

export const listedTaskSchema = Type.Object(task, { title: 'ListedCalendarTask' })
export type ListedTask = Static<typeof listedTaskSchema>
export const taskListQuery = Type.Object({
  ...listParameters,
  start: Type.Optional(
    Type.String({ description: 'With it or `end`, each occurrence from then on is an entry; ISO 8601.' }),
  ),
  end: Type.Optional(Type.String({ description: 'At most 366 days later; a date alone means its end.' })),
})
export type TaskListQuery = Static<typeof taskListQuery>

export const feedSchema = Type.Object({ url: Type.String() })
