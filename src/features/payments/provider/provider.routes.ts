import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Credentials } from '#features/agents/settings.service.ts'
import type { Clock } from '#platform/clock.ts'
import { AppError, invalid } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { listValues } from '#platform/http/lists/list-values.ts'
import { idempotencyKeyOf } from '#platform/http/requests/idempotency-key.ts'
import { acceptRawBodies, verifiedBody } from '#platform/http/requests/inbound-webhook.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  cardSchema,
  chargedSchema,
  chargeSchema,
  checkoutSchema,
  checkoutSessionSchema,
  refundedSchema,
  refundSchema,
  webhookAnswerSchema,
} from './provider.schema.ts'
import type { ProviderService } from './provider.service.ts'
import { type Approval, readEvent } from './provider-events.ts'
import type { WebhookService } from './webhook.service.ts'

const base = '/api/agents/:id/provider'
/** Max age of an event, or its lead on this clock (s). */
const toleranceSeconds = 300

interface Profile {
  credentials: Credentials
  settings: { issuing_approval?: Approval }
}

interface Dependencies {
  provider: ProviderService
  webhook: WebhookService
  /** Returns undefined for an unknown agent. */
  profileOf(agentId: string): Promise<Profile | undefined>
  webhookSecret: string | undefined
  clock: Clock
}

const limits = { area: 'payments', access: 'anyone', limit: 'general' } as const

export function registerProviderRoutes(app: App, dependencies: Dependencies): void {
  registerPayments(app, dependencies)
  // The scope is separate, because signatures are made over the bytes of a body.
  void app.register((scope, _options, done) => {
    acceptRawBodies(scope)
    registerWebhook(scope, dependencies)
    done()
  })
}

function registerPayments(app: App, { provider }: Dependencies): void {
  const routes = routesBelow(app, base, 'Payments', 'payments')

  routes.post('/checkout', {
    name: 'createCheckout',
    summary: 'Create a payment page at the payment provider',
    body: checkoutSchema,
    answer: checkoutSessionSchema,
    handle: request => provider.request(request.agent, 'checkout', request.body, idempotencyKeyOf(request)),
  })
  routes.post('/charge', {
    name: 'createCharge',
    summary: 'Charge a card that the payment provider knows',
    body: chargeSchema,
    answer: chargedSchema,
    handle: request => provider.request(request.agent, 'charge', request.body, idempotencyKeyOf(request)),
  })
  routes.post('/refund', {
    name: 'refundCharge',
    summary: 'Refund a payment in full or in part',
    body: refundSchema,
    answer: refundedSchema,
    handle(request) {
      const { charge_id, transaction_id } = request.body
      if ((charge_id === undefined) === (transaction_id === undefined))
        throw invalid('charge_id', 'name the payment by either charge_id or transaction_id')
      return provider.request(request.agent, 'refund', request.body, idempotencyKeyOf(request))
    },
  })
  routes.list('/cards', {
    name: 'listCards',
    summary: 'List the cards that the payment provider has issued',
    rows: 'cards',
    of: cardSchema,
    handle: async ({ params, query }) => listValues(await provider.cards(params.id), query),
  })
}

function registerWebhook(scope: App, { webhook, profileOf, webhookSecret, clock }: Dependencies): void {
  scope.route({
    method: 'POST',
    url: `${base}/webhook`,
    config: { ...limits, operationId: 'takeProviderEvent', audit: 'exempt' },
    schema: {
      summary: 'Receive an event of the payment provider',
      description: 'Only for the payment provider, whose signature is checked.',
      tags: ['Payments'],
      params: Type.Object({ id: Type.String() }),
      response: { 200: webhookAnswerSchema },
    },
    handler: async (request, reply) => {
      const { id } = request.params
      const profile = await profileOf(id)
      const secret = profile && (profile.credentials.provider_webhook_secret ?? webhookSecret)
      const event = readEvent(signedBody(request, secret, clock))
      if (event === undefined) throw invalid('body', 'must be an event of the payment provider')
      const answer = await webhook.process(id, event, profile?.settings.issuing_approval)
      // Without this header, the provider ignores the decision.
      if (answer.approved !== undefined) reply.header('Stripe-Version', apiVersion)
      return answer
    },
  })
}

const apiVersion = '2026-10-28.endive'

/** The header has a neutral name; the provider itself uses its own. */
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
