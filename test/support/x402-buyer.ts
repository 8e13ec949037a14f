/** Buyers as the official clients make them, and payments to send by hand. */
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

/** A wallet of its own. */
export function newWallet() {
  return privateKeyToAccount(generatePrivateKey())
}

/** A `fetch` that pays; of version 1, it never sees what version 2 is offered. */
export function payingFetch(version: 1 | 2, wallet = newWallet()): typeof fetch {
  if (version === 2)
    return wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', new ExactEvmScheme(wallet)))
  const former = new x402Client().registerV1('base-sepolia', new ExactEvmSchemeV1(wallet))
  return wrapFetchWithPayment(async (input, init) => {
    const answer = await fetch(input, init)
    const headers = new Headers(answer.headers)
    headers.delete('payment-required')
    return new Response(answer.body, { status: answer.status, headers })
  }, former)
}

interface Offered {
  headers: Record<string, unknown>
  body: unknown
}

interface Requirements {
  network: string
  [field: string]: unknown
}

/** The header that pays what an answer of status 402 offers; `change` is done to the payment before it is encoded. */
export async function paymentFor(
  { headers, body }: Offered,
  { version = 2, wallet = newWallet(), change = (payment: object) => payment, seconds = 300 } = {},
): Promise<Record<string, string>> {
  const text = Buffer.from(String(headers['payment-required']), 'base64').toString()
  const { accepts, resource } =
    version === 2 ? JSON.parse(text) : (body as { accepts: Requirements[]; resource?: object })
  const accepted = { ...accepts[0], maxTimeoutSeconds: seconds }
  const scheme = version === 2 ? new ExactEvmScheme(wallet) : new ExactEvmSchemeV1(wallet)
  const { payload } = await scheme.createPaymentPayload(version, accepted as never)
  const payment =
    version === 2
      ? { x402Version: 2, resource, accepted: accepts[0], payload }
      : { x402Version: 1, scheme: 'exact', network: accepts[0].network, payload }
  const header = Buffer.from(JSON.stringify(change(structuredClone(payment)))).toString('base64')
  return { [version === 2 ? 'payment-signature' : 'x-payment']: header }
}

/** What a header of ours says. */
export function decoded(header: unknown): Record<string, unknown> {
  return JSON.parse(Buffer.from(String(header), 'base64').toString())
}
