import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Change, ChangeFeed } from '#platform/change-feed.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import type { App } from '#platform/http/app.ts'
import type { SignalOf } from '#platform/http/closing.ts'
import { sendEvents } from '#platform/http/responses/sse.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { readAttention } from './attention.repository.ts'
import { followChanges } from './follow-changes.ts'
import { attentionSchema, changeSchema } from './overview.schema.ts'

/** Returns true if a caller may know of a change; for callers limited to own conversations, by its id. */
export type MaySee = (caller: FastifyRequest, change: Change) => boolean | Promise<boolean>

interface Dependencies {
  changes: ChangeFeed
  maySee: MaySee
  callerSignal: SignalOf
  /** Aborted when the service stops. */
  stopping: AbortSignal
  clock: Clock
}

export function registerEventRoutes(app: App, dependencies: Dependencies): void {
  const { changes, maySee, callerSignal, stopping, clock } = dependencies
  app.route({
    method: 'GET',
    url: '/api/agents/:id/events',
    exposeHeadRoute: false,
    config: {
      area: 'generic',
      access: 'viewer',
      limit: 'general',
      operationId: 'followChanges',
      chat: true,
    },
    schema: {
      summary: 'Get the changes of an agent as a stream',
      description: 'A stream of server-sent events, which `Last-Event-ID` continues.',
      tags: ['Agents'],
      params: Type.Object({ id: Type.String() }),
      headers: Type.Object({
        'last-event-id': Type.Optional(
          Type.String({ maxLength: 200, description: 'The id of the last event that was received.' }),
        ),
      }),
      response: {
        200: { content: { 'text/event-stream': { schema: Type.Unsafe<Readable>(changeSchema) } } },
      },
    },
    handler(request, reply) {
      const { agent, headers } = request
      const signal = AbortSignal.any([callerSignal(request, reply), agent.signal, stopping])
      const events = followChanges(changes, {
        agentId: agent.agentId,
        lastEventId: headers['last-event-id'],
        isVisible: change => maySee(request, change),
        now: () => timestamp(clock),
        signal,
      })
      sendEvents(reply, events)
    },
  })
}

/** Time after which failed executions no longer wait for a person (ms). */
const failedRecentlyMs = 7 * 24 * 3_600_000

export function registerAttentionRoutes(app: App, clock: Clock): void {
  routesBelow(app, '/api/agents/:id/attention', 'Agents').get('', {
    name: 'listAttention',
    summary: 'List all that waits for a person',
    description: 'Failed executions are those of the last seven days.',
    answer: attentionSchema,
    handle: ({ agent }) =>
      readAttention(agent.db, {
        now: timestamp(clock),
        since: new Date(clock.now() - failedRecentlyMs).toISOString(),
      }),
  })
}
