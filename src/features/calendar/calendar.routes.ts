import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import { sendKept } from '#platform/http/responses/kept-file.ts'
import {
  feedSchema,
  newTaskSchema,
  taskChangesSchema,
  taskListQuery,
  taskListSchema,
  taskSchema,
} from './calendar.schema.ts'
import type { CalendarService } from './calendar.service.ts'
import type { FeedService } from './feed.service.ts'

const agentPath = Type.Object({ id: Type.String() })
const taskPath = Type.Object({ id: Type.String(), taskId: Type.String() })
const reading = { area: 'generic', access: 'viewer', limit: 'general' } as const
const changing = { ...reading, access: 'admin' } as const
const tags = ['Calendar']
const collection = '/api/agents/:id/calendar'
const one = `${collection}/:taskId`

export function registerCalendarRoutes(app: App, calendar: CalendarService, feed: FeedService): void {
  registerReading(app, calendar)
  registerChanging(app, calendar)
  registerFeed(app, feed)
}

function registerReading(app: App, calendar: CalendarService): void {
  app.route({
    method: 'GET',
    url: collection,
    config: { ...reading, operationId: 'listTasks' },
    schema: {
      summary: 'Tasks, or with `start` or `end` all that take place then, once for each time',
      tags,
      params: agentPath,
      querystring: taskListQuery,
      response: { 200: taskListSchema },
    },
    handler: async request => {
      const { rows, meta } = await calendar.list(request.agent, request.query)
      return { tasks: rows, meta }
    },
  })

  app.route({
    method: 'GET',
    url: one,
    config: { ...reading, operationId: 'getTask' },
    schema: {
      summary: 'A task, and what became of its last occurrences',
      tags,
      params: taskPath,
      response: { 200: taskSchema },
    },
    handler: request => calendar.get(request.agent, request.params.taskId),
  })
}

function registerChanging(app: App, calendar: CalendarService): void {
  app.route({
    method: 'POST',
    url: collection,
    config: { ...changing, operationId: 'createTask' },
    schema: {
      summary: 'Add a task that takes place once, or again and again',
      tags,
      params: agentPath,
      body: newTaskSchema,
      response: { 201: taskSchema },
    },
    handler: async (request, reply) =>
      reply.code(201).send(await calendar.create(request.agent, request.body)),
  })

  app.route({
    method: 'PUT',
    url: one,
    config: { ...changing, operationId: 'updateTask' },
    schema: {
      summary: 'Change a task, or the status of one of its occurrences',
      tags,
      params: taskPath,
      body: taskChangesSchema,
      response: { 200: taskSchema },
    },
    handler: request => calendar.update(request.agent, request.params.taskId, request.body),
  })

  app.route({
    method: 'DELETE',
    url: one,
    config: { ...changing, operationId: 'deleteTask' },
    schema: {
      summary: 'Delete a task with its occurrences',
      tags,
      params: taskPath,
      response: { 200: successSchema },
    },
    handler: async request => {
      await calendar.remove(request.agent, request.params.taskId)
      return { success: true }
    },
  })
}

function registerFeed(app: App, feed: FeedService): void {
  app.route({
    method: 'POST',
    url: `${collection}/feed`,
    config: { ...changing, operationId: 'createCalendarFeed' },
    schema: {
      summary: 'The secret address of an iCalendar feed; the former one is void',
      tags,
      params: agentPath,
      response: { 200: feedSchema },
    },
    handler: request => feed.create(request.agent),
  })

  app.route({
    method: 'DELETE',
    url: `${collection}/feed`,
    config: { ...changing, operationId: 'deleteCalendarFeed' },
    schema: {
      summary: 'Void the address of the feed',
      tags,
      params: agentPath,
      response: { 200: successSchema },
    },
    handler: async request => {
      await feed.remove(request.agent)
      return { success: true }
    },
  })

  app.route({
    method: 'GET',
    url: `${collection}/feed.ics`,
    config: { area: 'generic', access: 'anyone', limit: 'general', operationId: 'getCalendarFeed' },
    schema: {
      summary: 'The calendar as iCalendar, for programs that subscribe to it',
      tags,
      params: agentPath,
      querystring: Type.Object({
        token: Type.Optional(Type.String({ maxLength: 200, description: 'The secret of the address.' })),
      }),
      response: { 200: { content: { 'text/calendar': { schema: Type.Unsafe<Buffer>(Type.String()) } } } },
    },
    handler: async ({ params, query }, reply) =>
      sendKept(reply, await feed.read(params.id, query.token ?? '')),
  })
}
