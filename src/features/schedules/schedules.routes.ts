import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  executionSchema,
  listedScheduleSchema,
  newScheduleSchema,
  scheduleChangesSchema,
  scheduleListQuery,
  scheduleSchema,
} from './schedules.schema.ts'
import type { SchedulesService } from './schedules.service.ts'

export function registerScheduleRoutes(app: App, schedules: SchedulesService): void {
  const routes = routesBelow(app, '/api/agents/:id/schedules', 'Schedules')

  routes.list('', {
    name: 'listSchedules',
    summary: 'List schedules',
    query: scheduleListQuery,
    rows: 'schedules',
    of: listedScheduleSchema,
    handle: ({ agent, query }) => schedules.list(agent, query),
  })
  routes.get('/:scheduleId', {
    name: 'getSchedule',
    summary: 'Get a schedule with its history',
    answer: scheduleSchema,
    handle: ({ agent, params }) => schedules.get(agent, params.scheduleId),
  })
  routes.create('', {
    name: 'createSchedule',
    summary: 'Create a schedule',
    description: 'Its action runs once, after a delay, or repeatedly.',
    body: newScheduleSchema,
    answer: scheduleSchema,
    handle: ({ agent, body }) => schedules.create(agent, body),
  })
  routes.update('/:scheduleId', {
    name: 'updateSchedule',
    summary: 'Update, pause or resume a schedule',
    body: scheduleChangesSchema,
    answer: scheduleSchema,
    derived: ({ type }) => (type === 'once' ? [] : ['next_run']),
    handle: ({ agent, params, body }) => schedules.update(agent, params.scheduleId, body),
  })
  routes.remove('/:scheduleId', {
    name: 'deleteSchedule',
    summary: 'Delete a schedule with its history',
    handle: ({ agent, params }) => schedules.remove(agent, params.scheduleId),
  })
  routes.post('/:scheduleId/run', {
    name: 'runSchedule',
    summary: 'Run a schedule now',
    description: 'The run does not change the times of the schedule.',
    answer: executionSchema,
    handle: ({ agent, params }) => schedules.run(agent, params.scheduleId),
  })
}
