import { LRUCache } from 'lru-cache'
import type Stripe from 'stripe'
import { AppError } from '#platform/errors.ts'
import { createSecretFilter } from '#platform/outbound/hide-secrets.ts'

/** How long one try may take, and all tries together, in milliseconds. */
const tryMs = 10_000
const deadlineMs = 25_000
const clientsKept = 100
/** An answer that says that the same request is under way. */
const underWay = 409

/** Refusals of a proxy in front of the provider, which say nothing about an earlier try: no right (any more), too much. */
const ofThisTry = [401, 403, 429]

/** One exchange with the provider, which may be repeated; `isRepeated` if it was, and may have been performed then. */
export type CallProvider = <Answer>(
  apiKey: string,
  exchange: (client: Stripe) => Promise<Answer>,
  isRepeated?: boolean,
) => Promise<Answer>

/**
 * Calls the provider. Rejects with PROVIDER_REFUSED if it has refused, which changed nothing there, and with
 * OUTCOME_UNKNOWN if the outcome is open. The library is loaded when it is first used.
 */
export function createProviderClient(base: URL): CallProvider {
  const clients = new LRUCache<string, Stripe>({ max: clientsKept })

  async function clientFor(apiKey: string): Promise<Stripe> {
    const { Stripe } = await import('stripe')
    const client =
      clients.get(apiKey) ??
      new Stripe(apiKey, {
        host: base.hostname,
        port: base.port || (base.protocol === 'https:' ? 443 : 80),
        protocol: base.protocol === 'https:' ? 'https' : 'http',
        maxNetworkRetries: 2,
        timeout: tryMs,
        telemetry: false,
      })
    clients.set(apiKey, client)
    return client
  }

  return async (apiKey, exchange, isRepeated = false) => {
    const client = await clientFor(apiKey)
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Error('deadline')), deadlineMs)
    try {
      return await Promise.race([exchange(client), late.promise])
    } catch (error) {
      throw refusalFrom(error, apiKey, isRepeated) ?? outcomeUnknown()
    } finally {
      clearTimeout(timer)
    }
  }
}

/** The error of a refusal that the library throws; anything else leaves the outcome open. */
function refusalFrom(error: unknown, apiKey: string, isRepeated: boolean): AppError | undefined {
  if (!(error instanceof Error) || !('type' in error)) return undefined
  const { type, message, code, decline_code, statusCode = 0 } = error as Partial<Stripe.errors.StripeError>
  if (statusCode < 400 || statusCode >= 500 || statusCode === underWay) return undefined
  if (isRepeated && ofThisTry.includes(statusCode)) return undefined
  // The library repeats parts of the key.
  const isKey = type === 'StripeAuthenticationError'
  const said = isKey ? 'The API key is not valid.' : createSecretFilter([apiKey])(message ?? '').slice(0, 500)
  const details = { code: code ?? (isKey ? 'invalid_api_key' : String(type)), message: said }
  return new AppError('PROVIDER_REFUSED', `The payment provider refused: ${said}`, {
    details: decline_code === undefined ? details : { ...details, decline_code },
  })
}

/** Never with the cause, which holds what was sent. */
export function outcomeUnknown(): AppError {
  return new AppError(
    'OUTCOME_UNKNOWN',
    'The payment provider gave no usable answer, so the outcome is open. Do not repeat this as a new request: it is asked ' +
      'for again under the same key, and the transaction then shows what came of it.',
  )
}
