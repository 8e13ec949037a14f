import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { sendKept } from '#platform/http/responses/kept-file.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  feedSchema,
  listedTaskSchema,
  newTaskSchema,
  taskChangesSchema,
  taskListQuery,
  taskSchema,
} from './calendar.schema.ts'
import type { CalendarService } from './calendar.service.ts'
import type { FeedService } from './feed.service.ts'

const base = '/api/agents/:id/calendar'

export function registerCalendarRoutes(app: App, calendar: CalendarService, feed: FeedService): void {
  const routes = routesBelow(app, base, 'Calendar')

  routes.list('', {
    name: 'listTasks',
    summary: 'List tasks',
    description: 'With `start` or `end`, lists each occurrence in that time as an entry of its own.',
    query: taskListQuery,
    rows: 'tasks',
    of: listedTaskSchema,
    handle: ({ agent, query }) => calendar.list(agent, query),
  })
  routes.get('/:taskId', {
    name: 'getTask',
    summary: 'Get a task with its latest occurrences',
    answer: taskSchema,
    handle: ({ agent, params }) => calendar.get(agent, params.taskId),
  })
  routes.create('', {
    name: 'createTask',
    summary: 'Create a task',
    description: 'It takes place once, or repeatedly.',
    body: newTaskSchema,
    answer: taskSchema,
    handle: ({ agent, body }) => calendar.create(agent, body),
  })
  routes.update('/:taskId', {
    name: 'updateTask',
    summary: 'Update a task, or the status of one occurrence',
    body: taskChangesSchema,
    answer: taskSchema,
    handle: ({ agent, params, body }) => calendar.update(agent, params.taskId, body),
  })
  routes.remove('/:taskId', {
    name: 'deleteTask',
    summary: 'Delete a task with its occurrences',
    handle: ({ agent, params }) => calendar.remove(agent, params.taskId),
  })
  registerFeed(app, feed)
}

function registerFeed(app: App, feed: FeedService): void {
  const routes = routesBelow(app, base, 'Calendar')

  routes.post('/feed', {
    name: 'createCalendarFeed',
    audit: 'refusals',
    summary: 'Create the secret address of an iCalendar feed',
    description: 'The address that was created before stops working.',
    answer: feedSchema,
    handle: ({ agent }) => feed.create(agent),
  })
  routes.remove('/feed', {
    name: 'deleteCalendarFeed',
    summary: 'Delete the address of the iCalendar feed',
    handle: ({ agent }) => feed.remove(agent),
  })
  app.route({
    method: 'GET',
    url: `${base}/feed.ics`,
    config: { area: 'generic', access: 'anyone', limit: 'general', operationId: 'getCalendarFeed' },
    schema: {
      summary: 'Get the calendar in iCalendar format',
      description: 'For calendar programs, which subscribe to this address.',
      tags: ['Calendar'],
      params: Type.Object({ id: Type.String() }),
      querystring: Type.Object({
        token: Type.Optional(Type.String({ maxLength: 200, description: 'The secret of the address.' })),
      }),
      response: { 200: { content: { 'text/calendar': { schema: Type.Unsafe<Buffer>(Type.String()) } } } },
    },
    handler: async ({ params, query }, reply) =>
      sendKept(reply, await feed.read(params.id, query.token ?? '')),
  })
}
