import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Credentials } from '#features/agents/settings.service.ts'
import type { Clock } from '#platform/clock.ts'
import { AppError, invalid } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { listParameters } from '#platform/http/lists/list-query.ts'
import { listValues } from '#platform/http/lists/list-values.ts'
import { acceptRawBodies, verifiedBody } from '#platform/http/requests/inbound-webhook.ts'
import { agentPath, changing, reading, tags } from '../routes.ts'
import {
  cardListSchema,
  chargedSchema,
  chargeSchema,
  checkoutSchema,
  checkoutSessionSchema,
  refundedSchema,
  refundSchema,
  webhookAnswerSchema,
} from './provider.schema.ts'
import type { ProviderService } from './provider.service.ts'
import type { Approval } from './provider-events.ts'
import { readEvent } from './provider-events.ts'
import type { WebhookService } from './webhook.service.ts'

const url = '/api/agents/:id/provider'
/** How old an event may be, or how far ahead of our clock. */
const toleranceSeconds = 300

interface Profile {
  credentials: Credentials
  settings: { issuing_approval?: Approval }
}

interface Dependencies {
  provider: ProviderService
  webhook: WebhookService
  /** Undefined without such an agent. */
  profileOf(agentId: string): Promise<Profile | undefined>
  webhookSecret: string | undefined
  clock: Clock
}

export function registerProviderRoutes(app: App, needs: Dependencies): void {
  registerPayments(app, needs)
  registerCards(app, needs)
  // A scope of its own, since signatures are made over the bytes of a body.
  void app.register((scope, _options, done) => {
    acceptRawBodies(scope)
    registerWebhook(scope, needs)
    done()
  })
}

function registerPayments(app: App, { provider }: Dependencies): void {
  app.route({
    method: 'POST',
    url: `${url}/checkout`,
    config: { ...changing, operationId: 'createCheckout' },
    schema: {
      summary: 'Have the payment provider show a page on which somebody pays',
      tags,
      params: agentPath,
      body: checkoutSchema,
      response: { 200: checkoutSessionSchema },
    },
    handler: request => provider.request(request.agent, 'checkout', request.body, callerKey(request)),
  })

  app.route({
    method: 'POST',
    url: `${url}/charge`,
    config: { ...changing, operationId: 'createCharge' },
    schema: {
      summary: 'Charge a card that the payment provider knows',
      tags,
      params: agentPath,
      body: chargeSchema,
      response: { 200: chargedSchema },
    },
    handler: request => provider.request(request.agent, 'charge', request.body, callerKey(request)),
  })

  app.route({
    method: 'POST',
    url: `${url}/refund`,
    config: { ...changing, operationId: 'refundCharge' },
    schema: {
      summary: 'Give a payment back, or a part of it',
      tags,
      params: agentPath,
      body: refundSchema,
      response: { 200: refundedSchema },
    },
    handler: request => {
      const { charge_id, transaction_id } = request.body
      if ((charge_id === undefined) === (transaction_id === undefined))
        throw invalid('charge_id', 'name the payment by either charge_id or transaction_id')
      return provider.request(request.agent, 'refund', request.body, callerKey(request))
    },
  })
}

function registerCards(app: App, { provider }: Dependencies): void {
  app.route({
    method: 'GET',
    url: `${url}/cards`,
    config: { ...reading, operationId: 'listCards' },
    schema: {
      summary: 'Cards that the payment provider has issued',
      tags,
      params: agentPath,
      querystring: Type.Object(listParameters),
      response: { 200: cardListSchema },
    },
    handler: async request => {
      const { rows, meta } = listValues(await provider.cards(request.params.id), request.query)
      return { cards: rows, meta }
    },
  })
}

function registerWebhook(scope: App, { webhook, profileOf, webhookSecret, clock }: Dependencies): void {
  scope.route({
    method: 'POST',
    url: `${url}/webhook`,
    config: { ...changing, access: 'anyone', operationId: 'takeProviderEvent' },
    schema: {
      summary: 'For the payment provider alone, whose signature decides',
      tags,
      params: agentPath,
      response: { 200: webhookAnswerSchema },
    },
    handler: async (request, reply) => {
      const { id } = request.params
      const profile = await profileOf(id)
      const secret = profile && (profile.credentials.provider_webhook_secret ?? webhookSecret)
      const event = readEvent(signedBody(request, secret, clock))
      if (event === undefined) throw invalid('body', 'must be an event of the payment provider')
      const answer = await webhook.process(id, event, profile?.settings.issuing_approval)
      // Without it, the provider takes no decision from the answer.
      if (answer.approved !== undefined) reply.header('Stripe-Version', apiVersion)
      return answer
    },
  })
}

const apiVersion = '2026-10-28.endive'

/** The header has a neutral name; the provider itself sends it under its own. */
function signedBody(request: FastifyRequest, secret: string | undefined, clock: Clock): Buffer {
  const header = 'provider-signature' in request.headers ? 'provider-signature' : 'stripe-signature'
  const window = { seconds: toleranceSeconds, now: clock.now() }
  try {
    return verifiedBody(request, { header, name: 'v1', secret, window })
  } catch {
    throw new AppError(
      'SIGNATURE_INVALID',
      'The signature is missing, wrong or too old, or no webhook secret is set.',
    )
  }
}

function callerKey({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  return key === undefined ? undefined : String(key)
}
