import { Type } from 'typebox'
import { type Cause, fromSchema, type Tool } from '#models/tools/tool.ts'
import { AppError } from '#platform/errors.ts'
import type { Outbound, OutboundResponse } from '#platform/outbound/outbound.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { readOffer } from './offers.ts'
import { paymentHeaders, signPayment, walletOf } from './sign-payment.ts'
import type { Limits, Spending } from './spending.ts'

const answerLimits = { timeoutMs: 30_000, maxBytes: 1024 * 1024 }
const maxReferenceLength = 500

const input = fromSchema(
  Type.Object({
    url: Type.String({ minLength: 1, maxLength: 2000, description: 'The http or https address.' }),
    method: Type.Optional(Type.Enum(['GET', 'POST', 'PUT', 'DELETE'], { description: 'GET unless given.' })),
    body: Type.Optional(Type.String({ maxLength: 100_000, description: 'JSON to send.' })),
  }),
)

interface Dependencies {
  outbound: Outbound
  spending: Spending
  agent: AgentHandle
  walletKey: string
  limits: Limits
  approval: 'tainted' | 'always' | 'never'
}

/** Lets a model read paid addresses, within the limits of its agent. */
export function x402Fetch(dependencies: Dependencies): Tool {
  const { approval } = dependencies
  return {
    name: 'x402_fetch',
    description:
      'Requests an address, and if that asks for a payment by x402, pays it within the limits of the agent, once. Returns ' +
      'the status, the body and what was paid.',
    isBuiltIn: true,
    egress: ({ url, method = 'GET', body }) => ({
      to: String(url),
      carries: method === 'GET' && body === undefined ? 'nothing' : 'text',
    }),
    ...input,
    ...(approval === 'never' ? {} : { requiresApproval: approval === 'always' ? ('always' as const) : true }),
    execute: (given, signal, cause) => buy(dependencies, given, signal, cause),
  }
}

async function buy(
  { outbound, spending, agent, walletKey, limits }: Dependencies,
  given: Record<string, unknown>,
  signal: AbortSignal,
  cause: Cause | undefined,
): Promise<unknown> {
  const { url, method = 'GET', body } = given as { url: string; method?: string; body?: string }
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  // A redirect can turn any other method into GET, which then is another request.
  const redirects = method === 'GET' ? {} : { maxRedirects: 0 }
  const request = { ...answerLimits, ...redirects, method, headers, body: body ?? null, signal }
  const first = await outbound.fetch(url, request)
  if (first.status !== 402) return answerOf(first)
  const offer = await readOffer(first.headers, first.text())
  const wallet = await walletOf(walletKey)
  const note = `for the message ${cause?.messageId ?? 'of a person'}`
  const { price: amount, currency, payTo: to } = offer
  const bought = {
    amount,
    currency,
    from: wallet.address,
    to,
    reference: first.url.slice(0, maxReferenceLength),
    note,
  }
  const reserved = await spending.reserve(agent, bought, limits)
  const payment = await signPayment(wallet, offer).catch(async cause => {
    await reserved.release()
    throw new AppError('TOOL_FAILED', 'Nothing was paid: the payment could not be signed.', { cause })
  })
  const paidFor = await outbound.fetch(first.url, {
    ...request,
    headers: { ...headers, [payment.name]: payment.value },
    secretHeaders: paymentHeaders,
  })
  const transaction = settledAs(paidFor.headers)
  if (transaction !== undefined) await reserved.settled(`${note}, transaction ${transaction}`)
  if (paidFor.status === 402)
    throw new AppError(
      'TOOL_FAILED',
      'The seller did not take the payment, or asks for another one. It may still take it, so that it counts as spent; ' +
        'do not try again.',
    )
  return { ...answerOf(paidFor), paid: { amount, currency, to } }
}

function answerOf(response: OutboundResponse) {
  return { status: response.status, url: response.url, body: response.text() }
}

/** Returns the transaction that the seller names as payment. */
function settledAs(headers: Headers): string | undefined {
  const header = headers.get('payment-response') ?? headers.get('x-payment-response')
  if (header === null) return undefined
  try {
    const { success, transaction } = JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
    return success === true ? String(transaction).slice(0, 200) : undefined
  } catch {
    return undefined
  }
}
