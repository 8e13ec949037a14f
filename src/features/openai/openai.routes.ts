import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { AccessFeature } from '#features/access/access.feature.ts'
import type { PaymentsFeature } from '#features/payments/payments.feature.ts'
import type { Clock } from '#platform/clock.ts'
import { currentOwner } from '#platform/current-owner.ts'
import { AppError } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import type { SignalOf } from '#platform/http/closing.ts'
import { asKnownError, formatError, type OpenAiError } from '#platform/http/errors/error-format.ts'
import { takeLargeJson } from '#platform/http/requests/body.ts'
import { isSmall, tooLarge } from '#platform/http/requests/body-limits.ts'
import { openEventStream } from '#platform/http/responses/sse.ts'
import { routesBelow } from '#platform/http/routes.ts'
import type { Ids } from '#platform/ids.ts'
import { chatCompletions } from './chat-completions.ts'
import type { Door, Run } from './door.service.ts'
import { asChat } from './items.ts'
import type { LargeBodies } from './large-bodies.ts'
import { type createModels, modelOf } from './models.ts'
import type { ChatBody } from './openai.schema.ts'
import * as schemas from './openai.schema.ts'
import { responses } from './responses.ts'
import type { Wire } from './wire.ts'

interface Dependencies extends Pick<AccessFeature, 'openAgent'>, Pick<PaymentsFeature, 'soldTo'> {
  models: ReturnType<typeof createModels>
  large: LargeBodies
  door: Door
  callerSignal: SignalOf
  /** Max size in bytes. */
  maxBytes: number
  clock: Clock
  ids: Ids
}

const base = '/api/openai/v1'
const tag = 'OpenAI'

export function registerOpenAiRoutes(app: App, needs: Dependencies): void {
  const { models } = needs
  const routes = routesBelow(app, base, tag, 'openai')
  routes.get('/models', {
    name: 'listOpenAiModels',
    summary: 'List the agents that the caller may chat with',
    description: 'Clients of OpenAI take them for models.',
    access: 'anyone',
    answer: schemas.modelListSchema,
    handle: request => models.list(request),
  })
  routes.get('/models/:model', {
    name: 'getOpenAiModel',
    summary: 'Get an agent as a model',
    access: 'anyone',
    answer: schemas.modelSchema,
    handle: async request => modelOf(await models.find(request, request.params.model)),
  })
  // In a scope of its own, so that other routes keep reading small bodies alone.
  void app.register((scope, _options, done) => {
    takeLargeJson(scope, needs.large.shorten)
    registerApis(scope, needs)
    done()
  })
}

function registerApis(app: App, needs: Dependencies): void {
  const { chatSchema, completionSchema, responsesSchema, responseSchema } = schemas
  const completion = { summary: 'Send a conversation and get the answer', body: chatSchema }
  registerAnswers(app, needs, 'createChatCompletion', {
    path: '/chat/completions',
    schema: { ...completion, response: { 200: completionSchema } },
    read: (body: ChatBody) => body,
    wire: chatCompletions,
  })
  const response = { summary: 'Send a conversation and get a response', body: responsesSchema }
  registerAnswers(app, needs, 'createResponse', {
    path: '/responses',
    schema: { ...response, response: { 200: responseSchema } },
    read: asChat,
    wire: responses,
  })
}

interface Api<Body extends TSchema> {
  path: string
  schema: { summary: string; body: Body; response: { 200: TSchema } }
  read(body: Static<Body>): ChatBody
  wire: Wire<Static<Body>>
}

function registerAnswers<Body extends TSchema>(
  app: App,
  needs: Dependencies,
  operationId: string,
  { path, schema, read, wire }: Api<Body>,
): void {
  app.route({
    method: 'POST',
    url: base + path,
    bodyLimit: needs.maxBytes,
    config: {
      area: 'openai',
      access: 'chatter',
      chat: true,
      findsAgent: true,
      limit: 'chat',
      operationId,
      // Editors send long conversations.
      stores: false,
      audit: 'exempt',
      jsonValues: 100_000,
    },
    schema: { ...schema, tags: [tag], description: 'The model is an agent. Nothing is stored.' },
    // The agent is in the body: one that is large is read for callers who could chat with any.
    async preParsing(request, _reply, payload) {
      if (isSmall(request) || (await needs.models.list(request)).data.length > 0) return payload
      throw tooLarge('Callers who may chat with no agent')
    },
    async handler(request, reply) {
      const given = request.body as Static<Body>
      const body = read(given)
      await openModel(request, reply, body.model, needs)
      const { agent, actor, isAdmin } = request
      const signal = needs.callerSignal(request, reply)
      const created = Math.floor(needs.clock.now() / 1000)
      return currentOwner.run(agent.agentId, async () => {
        const files = needs.large.filesOf(request)
        const question = { agent, body, files, actor, isOutsider: !isAdmin }
        const run = await needs.door.prepare(question, signal)
        const { whole, ...stream } = wire({ id: needs.ids.record(), created, body: given })
        return body.stream ? sendStream(reply, stream, run) : reply.send(whole(await run(() => {})))
      })
    },
  })
}

async function openModel(request: FastifyRequest, reply: FastifyReply, model: string, needs: Dependencies) {
  const { id } = await needs.models.find(request, model)
  await needs.openAgent(request, reply, id)
  if ((await needs.soldTo(request)).includes('/chat'))
    throw new AppError('FORBIDDEN', `This agent sells its answers: pay for them at /api/agents/${id}/chat.`)
}

function sendStream(reply: FastifyReply, wire: Omit<ReturnType<Wire<never>>, 'whole'>, run: Run) {
  const events = openEventStream(reply, undefined, String)
  events.send(wire.begin())
  const failed = (error: unknown) =>
    wire.fail(
      (formatError(asKnownError(error), 'openai', reply.request.id).body as { error: OpenAiError }).error,
    )
  void run(piece => events.send(wire.piece(piece)))
    .then(wire.end, failed)
    .then(events.send)
    .finally(events.end)
  return reply
}
