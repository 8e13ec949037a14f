import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Credentials, SettingsService } from '#features/agents/settings.service.ts'
import { AppError } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { acceptRawBodies, requireSecret } from '#platform/http/requests/inbound-webhook.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import { messengers } from './channels.schema.ts'
import { readTelegram } from './incoming/telegram-update.ts'
import { readWhatsapp } from './incoming/whatsapp-payload.ts'
import type { IncomingService } from './incoming.service.ts'

interface Dependencies {
  incoming: IncomingService
  settings: Pick<SettingsService, 'profileOf'>
}

const readers = { telegram: readTelegram, whatsapp: readWhatsapp }
const operationIds = { telegram: 'takeTelegramUpdate', whatsapp: 'takeWhatsappMessages' }
const tags = ['Channels']
const params = Type.Object({ id: Type.String() })
const config = { area: 'generic', access: 'anyone', limit: 'unproven' } as const

/** Registers routes for messengers, which deliver messages with a secret as proof. */
export function registerIncomingRoutes(app: App, { incoming, settings }: Dependencies): void {
  async function proven<Proof>(
    reply: FastifyReply,
    id: string,
    prove: (credentials: Credentials) => Proof,
  ): Promise<Proof> {
    try {
      return prove(await credentialsOf(id))
    } catch (error) {
      await reply.countAgainst('general')
      throw error
    }
  }

  /** Returns none for an unknown agent, so that the response does not reveal which agents exist. */
  async function credentialsOf(id: string): Promise<Credentials> {
    try {
      return (await settings.profileOf(id)).credentials
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return {}
      throw error
    }
  }

  void app.register((scope, _options, done) => {
    acceptRawBodies(scope)
    for (const channel of messengers)
      scope.route({
        method: 'POST',
        url: `/api/agents/:id/channels/${channel}/webhook`,
        config: { ...config, operationId: operationIds[channel], audit: 'exempt' },
        schema: {
          summary: 'Receive messages from a messenger',
          description: 'Only for the messenger, which delivers messages here.',
          tags,
          params,
          response: { 200: successSchema },
        },
        handler: async (request, reply) => {
          const { id } = request.params as { id: string }
          const read = (credentials: Credentials) => readers[channel](request, id, credentials)
          const { messages, ignored } = await proven(reply, id, read)
          for (const kind of ignored)
            request.log.info({ agentId: id, channel, kind }, 'a message was not read')
          await incoming.receive(id, channel, messages)
          return { success: true }
        },
      })
    done()
  })

  app.route({
    method: 'GET',
    url: '/api/agents/:id/channels/whatsapp/webhook',
    config: { ...config, operationId: 'verifyWhatsappWebhook' },
    schema: {
      summary: 'Verify the address for WhatsApp',
      description: 'Only for WhatsApp, which verifies the address before it delivers messages.',
      tags,
      params,
      querystring: Type.Object({
        'hub.verify_token': text('The verify token of the agent.'),
        'hub.challenge': text('The text that is returned.'),
      }),
      response: { 200: { content: { 'text/plain': { schema: Type.String() } } } },
    },
    handler: async (request, reply) => {
      const { 'hub.verify_token': given, 'hub.challenge': challenge = '' } = request.query
      const prove = ({ whatsapp_verify_token: secret }: Credentials) => requireSecret(given, secret)
      await proven(reply, request.params.id, prove)
      return reply.type('text/plain; charset=utf-8').send(challenge)
    },
  })
}

function text(description: string) {
  return Type.Optional(Type.String({ maxLength: 4000, description }))
}
