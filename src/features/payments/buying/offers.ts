import { Type } from 'typebox'
import { AppError } from '#platform/errors.ts'
import { matches } from '#platform/schema-check.ts'
import { fromUnits } from '../money.ts'
import { findNetwork } from '../selling/networks.ts'

const number = Type.String({ pattern: '^\\d{1,30}$' })
const address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })

/** The amount's field has another name in each version. */
const acceptSchema = Type.Object({
  scheme: Type.Literal('exact'),
  network: Type.String(),
  amount: Type.Optional(number),
  maxAmountRequired: Type.Optional(number),
  asset: address,
  payTo: address,
  maxTimeoutSeconds: Type.Number({ minimum: 1 }),
})

const offerSchema = Type.Object({
  x402Version: Type.Enum([1, 2]),
  accepts: Type.Array(Type.Unknown(), { maxItems: 50 }),
  resource: Type.Optional(Type.Unknown()),
})

/** A seller's price in a known coin. */
export interface SellersOffer {
  version: 1 | 2
  /** The seller's text, to be repeated unchanged. */
  accepted: object
  resource: unknown
  /** The name in the seller's version. */
  network: string
  chain: number
  asset: string
  payTo: string
  /** Smallest units of the coin. */
  units: string
  /** A decimal: dollars. */
  price: string
  currency: string
  /** Name and version for the coin's signatures. */
  extra: { name: string; version: string }
  validSeconds: number
}

/** Max validity of a signature; no seller needs more. */
const maxValidSeconds = 300

/** Returns the first payable offer: of a known dollar coin, by a signed authorization. Throws without one. */
export async function readOffer(headers: Headers, body: string): Promise<SellersOffer> {
  const { findDefaultAsset } = await import('@x402/evm')
  const givenTerms = parsed(headers, body)
  for (const accepted of matches(offerSchema, givenTerms) ? givenTerms.accepts : []) {
    if (!matches(offerSchema, givenTerms) || !matches(acceptSchema, accepted)) continue
    const network = findNetwork(accepted.network)
    const coin = network && findDefaultAsset(accepted.asset, network.id)
    const units = accepted.amount ?? accepted.maxAmountRequired
    if (network === undefined || coin === undefined || units === undefined) continue
    if (coin.assetTransferMethod !== undefined || BigInt(units) === 0n) continue
    return {
      version: givenTerms.x402Version as 1 | 2,
      accepted,
      resource: givenTerms.resource,
      network: accepted.network,
      chain: Number(network.id.split(':')[1]),
      asset: accepted.asset,
      payTo: accepted.payTo,
      units,
      price: fromUnits(BigInt(units), coin.decimals),
      currency: coin.symbol ?? 'USD',
      extra: { name: coin.name, version: coin.version },
      validSeconds: Math.min(maxValidSeconds, Math.floor(accepted.maxTimeoutSeconds)),
    }
  }
  throw new AppError(
    'TOOL_FAILED',
    'This address asks for a payment that the agent does not make: it pays by x402, with known dollar coins, on known networks.',
  )
}

/** A header has version 2, the body has version 1. */
function parsed(headers: Headers, body: string): unknown {
  const header = headers.get('payment-required')
  try {
    return JSON.parse(header === null ? body : Buffer.from(header, 'base64').toString('utf8'))
  } catch {
    return undefined
  }
}
