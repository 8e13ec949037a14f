import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { invalid } from '#platform/errors.ts'
import { readBound } from '#platform/http/lists/list-dates.ts'
import { listValues } from '#platform/http/lists/list-values.ts'
import { dayMs, occurrences } from '#platform/time/recurrence.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { occurrencesOf, type TaskRow, tasksWithin, toSeries, toTask } from './calendar.repository.ts'
import type { ListedTask, TaskListQuery } from './calendar.schema.ts'

const maxDays = 366
const maxOccurrences = 1_000
/** Days of a range with only one end. */
const usualDays = 31

/** Returns a page of the occurrences within a range, in order. @throws AppError VALIDATION_ERROR */
export async function listOccurrences({ db }: AgentHandle, query: TaskListQuery) {
  const range = readRange(query)
  const found: ListedTask[] = []
  for await (const tasks of tasksWithin(db, range)) {
    const expanded: ListedTask[] = []
    for (const task of tasks) {
      expanded.push(...expand(task, range))
      if (found.length + expanded.length > maxOccurrences)
        throw invalid('end', `makes more than ${maxOccurrences} occurrences; choose a shorter range`)
      await yieldToOthers()
    }
    found.push(...(await withStatuses(db, expanded)))
  }
  const inOrder = found.toSorted((one, other) => (one.start_time < other.start_time ? -1 : 1))
  return listValues(inOrder, query)
}

function readRange({ start, end }: TaskListQuery): { from: string; to: string } {
  const [from, to] = [
    start === undefined ? undefined : Date.parse(readBound('start', start, 'from')),
    end === undefined ? undefined : Date.parse(readBound('end', end, 'to')),
  ]
  const begin = from ?? Number(to) - usualDays * dayMs
  const until = to ?? begin + usualDays * dayMs
  if (until < begin) throw invalid('end', 'must not be before start')
  if (until - begin > maxDays * dayMs) throw invalid('end', `must be at most ${maxDays} days after start`)
  return { from: new Date(begin).toISOString(), to: new Date(until).toISOString() }
}

/** Returns the task once for each of its occurrences, up to one above the limit. */
function expand(row: TaskRow, range: { from: string; to: string }): ListedTask[] {
  const task = toTask(row)
  const [from, to] = [Date.parse(range.from), Date.parse(range.to)]
  const duration = Date.parse(row.end_time ?? row.start_time) - Date.parse(row.start_time)
  const found: ListedTask[] = []
  for (const start of occurrences(toSeries(row), from - duration)) {
    if (start > to || found.length > maxOccurrences) break
    if (start < from && start + duration === from) continue
    const start_time = new Date(start).toISOString()
    const end_time = row.end_time === null ? null : new Date(start + duration).toISOString()
    found.push({ ...task, start_time, end_time })
  }
  return found
}

/** Adds statuses to occurrences of series, which have one after their start or if a person has set it. */
async function withStatuses(db: AgentHandle['db'], found: readonly ListedTask[]): Promise<ListedTask[]> {
  const series = found.filter(({ recurrence }) => recurrence !== 'none')
  if (series.length === 0) return [...found]
  const starts = series.map(({ start_time }) => start_time).toSorted()
  const rows = await occurrencesOf(db, [...new Set(series.map(({ id }) => id))], {
    from: starts[0] ?? '',
    to: starts.at(-1) ?? '',
  })
  const statuses = new Map(rows.map(({ task_id, starts_at, status }) => [`${task_id} ${starts_at}`, status]))
  return found.map(task => {
    const status = statuses.get(`${task.id} ${task.start_time}`) as ListedTask['status'] | undefined
    return task.recurrence === 'none' || status === undefined ? task : { ...task, status }
  })
}
