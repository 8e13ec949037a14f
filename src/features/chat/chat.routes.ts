import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { conflict } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { listParameters } from '#platform/http/list-query.ts'
import { listValues } from '#platform/http/list-values.ts'
import { sendEvents } from '#platform/http/sse.ts'
import type { Answering } from './answering.ts'
import type { Asking } from './asking.ts'
import type { Catalogue } from './catalogue.ts'
import {
  answerSchema,
  modelListSchema,
  newMessageSchema,
  regenerateSchema,
  toolListSchema,
} from './chat.schema.ts'
import { streamAnswer } from './event-stream.ts'
import { toPublic } from './messages.repository.ts'
import type { Question } from './question.ts'

const agentPath = Type.Object({ id: Type.String() })
const messagePath = Type.Object({ id: Type.String(), messageId: Type.String() })

/** Answered as JSON, or as server-sent events when the body asks for `stream`. */
const answerResponse = { 200: answerSchema }

interface Needs {
  asking: Asking
  answering: Answering
  catalogue: Catalogue
}

export function registerChatRoutes(app: App, { asking, answering, catalogue }: Needs): void {
  /** Listens for the client's going away from the beginning, since accepting a question may take its time. */
  async function deliver(asked: Promise<Question>, stream: boolean | undefined, reply: FastifyReply) {
    const client = new AbortController()
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) client.abort()
    })
    const question = await asked
    if (stream) return sendEvents(reply, streamAnswer(answering, question, client.signal))
    const { assistantMessage, error } = await answering.run(question, () => {}, client.signal)
    if (error !== undefined) throw error
    if (assistantMessage === undefined) throw conflict('The request was aborted before there was an answer.')
    return reply.send({ userMessage: toPublic(question.userMessage), assistantMessage })
  }

  app.route({
    method: 'POST',
    url: '/api/agents/:id/chat',
    config: { area: 'chat', access: 'chatter', limit: 'chat' },
    schema: {
      summary: 'Send a message and get the answer, as JSON or as a stream of events',
      tags: ['Chat'],
      params: agentPath,
      body: newMessageSchema,
      response: answerResponse,
    },
    handler: (request, reply) =>
      deliver(asking.ask(request.params.id, request.body), request.body.stream, reply),
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/chat/messages/:messageId/regenerate',
    config: { area: 'chat', access: 'chatter', limit: 'chat' },
    schema: {
      summary: 'Answer a message anew; the new answer replaces the old one and all that followed',
      tags: ['Chat'],
      params: messagePath,
      body: regenerateSchema,
      response: answerResponse,
    },
    handler: (request, reply) => {
      const { id, messageId } = request.params
      return deliver(asking.askAgain(id, messageId, request.body), request.body.stream, reply)
    },
  })

  registerCatalogueRoutes(app, catalogue)
}

function registerCatalogueRoutes(app: App, catalogue: Catalogue): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/chat/models',
    config: { area: 'chat', access: 'viewer', limit: 'general' },
    schema: {
      summary: 'The models that the agent can use',
      tags: ['Chat'],
      params: agentPath,
      querystring: Type.Object(listParameters),
      response: { 200: modelListSchema },
    },
    handler: async request => {
      const { rows, meta } = listValues(await catalogue.models(request.params.id), request.query)
      return { models: rows, meta }
    },
  })

  app.route({
    method: 'GET',
    url: '/api/agents/:id/chat/tools',
    config: { area: 'chat', access: 'viewer', limit: 'general' },
    schema: {
      summary: 'The built-in tools that a model may call',
      tags: ['Chat'],
      params: agentPath,
      querystring: Type.Object(listParameters),
      response: { 200: toolListSchema },
    },
    handler: async request => {
      const { rows, meta } = listValues(catalogue.tools(request.agent), request.query)
      return { tools: rows, meta }
    },
  })
}
