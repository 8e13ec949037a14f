import { type Static, Type } from 'typebox'
import { matches } from '#platform/schema-check.ts'
import { findNetwork } from './networks.ts'

/** The terms that a payment must meet. */
export interface Terms {
  /** The name in version 2. */
  network: string
  /** Smallest units of the coin. */
  amount: string
  /** The address of the coin. */
  asset: string
  payTo: string
  /** Name and version for the coin's signatures. */
  extra: Record<string, unknown>
  /** Media type of the response; defaults to JSON. */
  mimeType?: string
}

/** The offer that buyers see. */
export interface Offer {
  terms: Terms
  url: string
  description: string
}

const maxTimeoutSeconds = 300
const scheme = 'exact'
const json = 'application/json'

/** Returns the requirements for a payment, in the form of each version. */
export function requirementsOf({ terms, url, description }: Offer, version: number) {
  const { network, amount, asset, payTo, extra, mimeType = json } = terms
  if (version === 2) return { scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra }
  const former = { scheme, network: findNetwork(network)?.name ?? network, maxAmountRequired: amount }
  return { ...former, resource: url, description, mimeType, payTo, maxTimeoutSeconds, asset, extra }
}

/** Returns the response to unpaid requests: version 1 in the body and version 2 in a header. */
export function paymentRequired(offer: Offer, error: string) {
  const { url, description, terms } = offer
  const resource = { url, description, mimeType: terms.mimeType ?? json }
  const header = { x402Version: 2, error, resource, accepts: [requirementsOf(offer, 2)] }
  return { header: encoded(header), body: { x402Version: 1, accepts: [requirementsOf(offer, 1)] } }
}

export function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

const hex = (digits: number) => Type.String({ pattern: `^0x[0-9a-fA-F]{${digits}}$` })
const number = Type.String({ pattern: '^\\d{1,78}$' })

const payloadSchema = Type.Object({
  signature: Type.String({ maxLength: 20_000 }),
  authorization: Type.Object({
    from: hex(40),
    to: hex(40),
    value: number,
    validAfter: number,
    validBefore: number,
    nonce: hex(64),
  }),
})

const version1 = Type.Object({
  x402Version: Type.Literal(1),
  scheme: Type.String(),
  network: Type.String(),
  payload: payloadSchema,
})
const version2 = Type.Object({
  x402Version: Type.Literal(2),
  resource: Type.Optional(Type.Object({ url: Type.String() })),
  accepted: Type.Object({
    scheme: Type.String(),
    network: Type.String(),
    amount: Type.String(),
    asset: Type.String(),
    payTo: Type.String(),
  }),
  payload: payloadSchema,
})

export type Payment = Static<typeof version1> | Static<typeof version2>

/** Returns undefined for anything but a payment of this scheme. */
export function readPayment(header: string): Payment | undefined {
  // Buffer skips letters outside of its alphabet, and stops at padding.
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(header)) return undefined
  try {
    const payment: unknown = JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
    return matches(version1, payment) || matches(version2, payment) ? payment : undefined
  } catch {
    return undefined
  }
}

/** Returns the reason that a payment does not match the offer, or undefined. The facilitator verifies it. */
export function mismatchOf(payment: Payment, { terms, url }: Offer): string | undefined {
  const { to, value } = payment.payload.authorization
  const wanted = { ...terms, scheme, value: terms.amount, to: terms.payTo }
  const givenTerms =
    payment.x402Version === 1
      ? { scheme: payment.scheme, network: findNetwork(payment.network)?.id }
      : payment.accepted
  const fields = Object.entries({ ...givenTerms, value, to } as Record<string, unknown>)
  const names = ['scheme', 'network', 'amount', 'asset', 'payTo', 'value', 'to'] as const
  const wrong = names.find(name =>
    fields.some(([field, text]) => field === name && !isSame(text, wanted[name])),
  )
  if (wrong !== undefined) return `The payment has another ${wrong} than this resource asks for.`
  const named = payment.x402Version === 2 ? payment.resource?.url : undefined
  return named === undefined || pathOf(named) === pathOf(url)
    ? undefined
    : 'The payment is for another resource.'
}

function isSame(givenValue: unknown, wanted: string): boolean {
  return typeof givenValue === 'string' && givenValue.toLowerCase() === wanted.toLowerCase()
}

/** Returns an address without its host, which a proxy can change. */
function pathOf(url: string): string | undefined {
  const parsed = URL.parse(url)
  return parsed ? parsed.pathname + parsed.search : undefined
}

/** Returns the identity of a payer, for all payments. */
export function payerOf({ payload: { authorization } }: Payment, { network }: Terms): string {
  return `x402:${network}:${authorization.from.toLowerCase()}`
}

/** Returns a key that only one settled payment can have. */
export function claimKey({ payload: { authorization } }: Payment, { network, asset }: Terms): string {
  return [network, asset, authorization.from, authorization.nonce].join('|').toLowerCase()
}
