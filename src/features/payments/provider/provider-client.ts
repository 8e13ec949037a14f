import { LRUCache } from 'lru-cache'
import type Stripe from 'stripe'
import { AppError } from '#platform/errors.ts'
import { createSecretFilter } from '#platform/outbound/hide-secrets.ts'

/** Max duration of one attempt, and of all attempts together (ms). */
const tryMs = 10_000
const deadlineMs = 25_000
const clientsKept = 100
/** The status of a request that the provider still processes. */
const underWay = 409

/** Statuses of a proxy before the provider, which say nothing about an earlier attempt. */
const ofThisTry = [401, 403, 429]

/** Runs one exchange with the provider, with retries; `isRepeated` if an earlier one might have succeeded. */
export type CallProvider = <Answer>(
  apiKey: string,
  exchange: (client: Stripe) => Promise<Answer>,
  isRepeated?: boolean,
) => Promise<Answer>

/**
 * Calls the provider. Rejects with PROVIDER_REFUSED for a refusal, which changed nothing there, and with
 * OUTCOME_UNKNOWN if the outcome is open. The library is loaded at its first use.
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

/** Returns the error of a refusal that the library throws; any other error leaves the outcome open. */
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

/** The error has no cause, because that contains the sent data. */
export function outcomeUnknown(): AppError {
  return new AppError(
    'OUTCOME_UNKNOWN',
    'The payment provider gave no usable answer, so the outcome is open. Do not repeat this as a new request: it is asked ' +
      'for again under the same key, and the transaction then shows what came of it.',
  )
}
