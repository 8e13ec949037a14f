import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { ToolsOf } from '#features/collect-tools.ts'
import { anyTurn } from '#models/tools/tool-turn.ts'
import { invalid } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import type { SignalOf } from '#platform/http/closing.ts'
import { fitting } from '#platform/http/lists/list-large.ts'
import { listValues } from '#platform/http/lists/list-values.ts'
import { openEventStream } from '#platform/http/responses/sse.ts'
import { routesBelow } from '#platform/http/routes.ts'
import type { Answering } from './answering/answering.ts'
import type { Draft } from './answering/draft.ts'
import type { Question } from './answering/question.ts'
import type { Questions } from './answering/questions.ts'
import { type Comment, streamAnswer } from './answering/stream-answer.ts'
import type { BackgroundTurns } from './background/accept-turn.ts'
import type { TurnEvents } from './background/turn-events.ts'
import {
  acceptedSchema,
  answerSchema,
  messageForm,
  modelSchema,
  type NewMessage,
  newMessageSchema,
  regenerateSchema,
  type TurnOptions,
  toolDescriptorSchema,
  toolListQuery,
} from './chat.schema.ts'
import { acceptMessageForms } from './files/chat-files.routes.ts'
import type { ChatFiles } from './files/chat-files.service.ts'
import { askerOf } from './reach.ts'
import { type StreamEvent, streamEventSchema } from './stream-events.schema.ts'
import { eventsPath } from './turns.schema.ts'

const agentPath = Type.Object({ id: Type.String() })
const messagePath = Type.Object({ id: Type.String(), messageId: Type.String() })

/** The response: JSON or, if the body sets `stream`, server-sent events. */
const answerResponse = { 200: Type.Union([answerSchema, acceptedSchema]) }

interface Dependencies {
  questions: Questions
  answering: Answering
  callerSignal: SignalOf
  background: Pick<BackgroundTurns, 'accept'>
  events: Pick<TurnEvents, 'send'>
  files: ChatFiles
  maxUploadBytes: number
}

const limits = { area: 'chat', access: 'chatter', limit: 'chat' } as const
const config = { ...limits, soldAs: '/chat', audit: 'exempt', chat: true } as const

export function registerChatRoutes(app: App, needs: Dependencies): void {
  const { questions } = needs
  const deliver = createDeliver(needs)

  // A separate scope, so that all other routes reject forms.
  void app.register((scope: App, _options, done) => {
    acceptMessageForms(scope, needs)
    scope.route({
      method: 'POST',
      url: '/api/agents/:id/chat',
      config: { ...config, operationId: 'sendMessage' },
      schema: {
        summary: 'Send a message and get the answer',
        description:
          'The answer is JSON or, with `stream`, a stream of events. A form sends files with the message.',
        tags: ['Chat'],
        consumes: ['multipart/form-data'],
        params: agentPath,
        body: newMessageSchema,
        form: messageForm,
        json: newMessageSchema,
        response: answerResponse,
        event: streamEventSchema,
      },
      handler: (request, reply) =>
        deliver(() => questions.draftNew(request.params.id, request.body, askerOf(request)), request.body, [
          request,
          reply,
        ]),
    })
    done()
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/chat/messages/:messageId/regenerate',
    config: { ...config, operationId: 'regenerateMessage' },
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
      const draft = () => questions.draftAgain(id, messageId, request.body, askerOf(request))
      return deliver(draft, request.body, [request, reply])
    },
  })
}

function createDeliver({ answering, callerSignal, background, events }: Dependencies) {
  /** Responds with a background turn, which its events show; this request receives the first ones. */
  async function deliverInBackground(
    draft: () => Promise<Draft>,
    options: NewMessage | TurnOptions,
    [request, reply]: [FastifyRequest, FastifyReply],
  ) {
    if (request.gate !== undefined)
      throw invalid('background', 'is not possible for calls that are paid: leave it out')
    const { agent } = request
    const { row, ...accepted } = await background.accept(agent, draft(), askerOf(request), options)
    if (options.stream) {
      events.send(request, reply, row.id)
      return reply
    }
    const { id, status } = row
    return reply.send({ ...accepted, turn: { id, status, events: eventsPath(agent.agentId, id) } })
  }

  /** Watches from the start for a disconnect of the caller, because accepting a question can take a while. */
  return async (
    draft: () => Promise<Draft>,
    options: NewMessage | TurnOptions,
    [request, reply]: [FastifyRequest, FastifyReply],
  ) => {
    const { stream, background, clientMessageId, on_busy } = options
    if (background) return deliverInBackground(draft, options, [request, reply])
    if (clientMessageId !== undefined) throw invalid('clientMessageId', 'needs `background: true`')
    if (on_busy !== undefined) throw invalid('on_busy', 'needs `background: true`')
    const caller = callerSignal(request, reply)
    const question = await acceptedBehindGate(draft(), request)
    if (!stream) {
      const { evictedConversationId } = question
      return reply.send({ ...(await answering.answer(question, caller)), evictedConversationId })
    }
    const sent = openEventStream(reply)
    const send = (event: StreamEvent | Comment) => {
      if (typeof event === 'object' && event.type === 'error') request.gate?.after('failed')
      sent.send(event)
    }
    void streamAnswer(answering, question, caller, send).then(sent.end)
    return reply
  }
}

/** Passes a gate while the conversation is locked, so that no request passes it with a question that must be refused. */
async function acceptedBehindGate(drafting: Promise<Draft>, { gate }: FastifyRequest): Promise<Question> {
  await using draft = await drafting
  if (gate !== undefined) {
    await draft.hold()
    await gate.before()
  }
  return await draft.accept()
}

interface Catalogue {
  modelsOf(agentId: string): Promise<Static<typeof modelSchema>[]>
  toolsOf: ToolsOf
}

export function registerCatalogueRoutes(app: App, { modelsOf, toolsOf }: Catalogue): void {
  const routes = routesBelow(app, '/api/agents/:id/chat', 'Chat', 'chat')

  routes.list('/models', {
    name: 'listModels',
    summary: 'List the models that the agent can use',
    chat: true,
    rows: 'models',
    of: modelSchema,
    handle: async ({ params, query }) => listValues(await modelsOf(params.id), query),
  })
  routes.list('/tools', {
    name: 'listModelTools',
    summary: 'List the tools that a model may call',
    description: 'They have the names that the model sees.',
    query: toolListQuery,
    rows: 'tools',
    of: toolDescriptorSchema,
    async handle({ agent, query }) {
      const tools = (await toolsOf(agent, anyTurn))
        .filter(({ isBuiltIn }) => isBuiltIn || query.scope === 'all')
        .map(({ name, description, parameters }) => ({ name, description, parameters }))
      return listValues(tools, query, found => fitting(found, tool => JSON.stringify(tool).length))
    },
  })
}
