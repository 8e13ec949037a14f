import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import type { SignalOf } from '#platform/http/closing.ts'
import { fitting } from '#platform/http/lists/list-large.ts'
import { listValues } from '#platform/http/lists/list-values.ts'
import { openEventStream } from '#platform/http/responses/sse.ts'
import { routesBelow } from '#platform/http/routes.ts'
import type { Question } from './answering/question.ts'
import type { Asker } from './answering/turn-planner.ts'
import {
  answerSchema,
  modelSchema,
  newMessageSchema,
  regenerateSchema,
  toolDescriptorSchema,
  toolListQuery,
} from './chat.schema.ts'
import type { ChatService } from './chat.service.ts'
import type { StreamEvent } from './stream-events.schema.ts'
import { streamEventSchema } from './stream-events.schema.ts'

const agentPath = Type.Object({ id: Type.String() })
const messagePath = Type.Object({ id: Type.String(), messageId: Type.String() })

/** Answered as JSON, or as server-sent events when the body asks for `stream`. */
const answerResponse = { 200: answerSchema }

interface Dependencies {
  chat: ChatService
  callerSignal: SignalOf
}

export function registerChatRoutes(app: App, { chat, callerSignal }: Dependencies): void {
  /** Watches from the start whether the caller goes away, since accepting a question may take a while. */
  async function deliver(
    asked: Promise<Question>,
    stream: boolean | undefined,
    [request, reply]: [FastifyRequest, FastifyReply],
  ) {
    const caller = callerSignal(request, reply)
    const question = await asked
    if (!stream) return reply.send(await chat.answer(question, caller))
    const events = openEventStream(reply)
    const send = (event: StreamEvent) => {
      if (event.type === 'error') request.purchase?.failed()
      events.send(event)
    }
    void chat.stream(question, caller, send).then(events.end)
    return reply
  }

  app.route({
    method: 'POST',
    url: '/api/agents/:id/chat',
    config: { area: 'chat', access: 'chatter', limit: 'chat', soldAs: '/chat', operationId: 'sendMessage' },
    schema: {
      summary: 'Send a message and get the answer',
      description: 'The answer is JSON or, with `stream`, a stream of events.',
      tags: ['Chat'],
      params: agentPath,
      body: newMessageSchema,
      response: answerResponse,
      event: streamEventSchema,
    },
    handler: (request, reply) =>
      deliver(chat.ask(request.params.id, request.body, askerOf(request)), request.body.stream, [
        request,
        reply,
      ]),
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/chat/messages/:messageId/regenerate',
    config: {
      area: 'chat',
      access: 'chatter',
      limit: 'chat',
      soldAs: '/chat',
      operationId: 'regenerateMessage',
    },
    schema: {
      summary: 'Regenerate the answer to a message',
      description: 'The new answer replaces the old one and all messages after it.',
      tags: ['Chat'],
      params: messagePath,
      body: regenerateSchema,
      response: answerResponse,
      event: streamEventSchema,
    },
    handler: (request, reply) => {
      const { id, messageId } = request.params
      const asked = chat.askAgain(id, messageId, request.body, askerOf(request))
      return deliver(asked, request.body.stream, [request, reply])
    },
  })

  registerCatalogueRoutes(app, chat)
}

function askerOf({ isAdmin, purchase }: FastifyRequest): Asker {
  const caller = { isOutsider: !isAdmin, isConfined: !isAdmin, author: purchase?.payer }
  return { ...caller, ...(purchase && { pay: () => purchase.settle() }) }
}

function registerCatalogueRoutes(app: App, chat: ChatService): void {
  const routes = routesBelow(app, '/api/agents/:id/chat', 'Chat', 'chat')

  routes.list('/models', {
    name: 'listModels',
    summary: 'List the models that the agent can use',
    rows: 'models',
    of: modelSchema,
    handle: async ({ params, query }) => listValues(await chat.models(params.id), query),
  })
  routes.list('/tools', {
    name: 'listModelTools',
    summary: 'List the tools that a model may call',
    description: 'They have the names that the model sees.',
    query: toolListQuery,
    rows: 'tools',
    of: toolDescriptorSchema,
    async handle({ agent, query }) {
      const tools = await chat.tools(agent, query.scope)
      return listValues(tools, query, found => fitting(found, tool => JSON.stringify(tool).length))
    },
  })
}
