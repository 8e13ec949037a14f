import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import {
  executionSchema,
  newScheduleSchema,
  scheduleChangesSchema,
  scheduleListQuery,
  scheduleListSchema,
  scheduleSchema,
} from './schedules.schema.ts'
import type { SchedulesService } from './schedules.service.ts'

const agentPath = Type.Object({ id: Type.String() })
const schedulePath = Type.Object({ id: Type.String(), scheduleId: Type.String() })
const reading = { area: 'generic', access: 'viewer', limit: 'general' } as const
const changing = { ...reading, access: 'admin' } as const
const tags = ['Schedules']
const collection = '/api/agents/:id/schedules'
const one = `${collection}/:scheduleId`

export function registerScheduleRoutes(app: App, schedules: SchedulesService): void {
  registerReading(app, schedules)
  registerChanging(app, schedules)
}

function registerReading(app: App, schedules: SchedulesService): void {
  app.route({
    method: 'GET',
    url: collection,
    config: { ...reading, operationId: 'listSchedules' },
    schema: {
      summary: 'Schedules of the agent',
      tags,
      params: agentPath,
      querystring: scheduleListQuery,
      response: { 200: scheduleListSchema },
    },
    handler: async request => {
      const { rows, meta } = await schedules.list(request.agent, request.query)
      return { schedules: rows, meta }
    },
  })

  app.route({
    method: 'GET',
    url: one,
    config: { ...reading, operationId: 'getSchedule' },
    schema: {
      summary: 'A schedule with its history',
      tags,
      params: schedulePath,
      response: { 200: scheduleSchema },
    },
    handler: request => schedules.get(request.agent, request.params.scheduleId),
  })
}

function registerChanging(app: App, schedules: SchedulesService): void {
  app.route({
    method: 'POST',
    url: collection,
    config: { ...changing, operationId: 'createSchedule' },
    schema: {
      summary: 'Have something done once, after a delay, or again and again',
      tags,
      params: agentPath,
      body: newScheduleSchema,
      response: { 201: scheduleSchema },
    },
    handler: async (request, reply) =>
      reply.code(201).send(await schedules.create(request.agent, request.body)),
  })

  app.route({
    method: 'PUT',
    url: one,
    config: { ...changing, operationId: 'updateSchedule' },
    schema: {
      summary: 'Change, pause or resume a schedule',
      tags,
      params: schedulePath,
      body: scheduleChangesSchema,
      response: { 200: scheduleSchema },
    },
    handler: request => schedules.update(request.agent, request.params.scheduleId, request.body),
  })

  app.route({
    method: 'DELETE',
    url: one,
    config: { ...changing, operationId: 'deleteSchedule' },
    schema: {
      summary: 'Delete a schedule with its history',
      tags,
      params: schedulePath,
      response: { 200: successSchema },
    },
    handler: async request => {
      await schedules.remove(request.agent, request.params.scheduleId)
      return { success: true }
    },
  })

  app.route({
    method: 'POST',
    url: `${one}/run`,
    config: { ...changing, operationId: 'runSchedule' },
    schema: {
      summary: 'Run a schedule now, besides its own times',
      tags,
      params: schedulePath,
      response: { 200: executionSchema },
    },
    handler: request => schedules.run(request.agent, request.params.scheduleId),
  })
}
