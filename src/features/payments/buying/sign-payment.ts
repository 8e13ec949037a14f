import type { SellersOffer } from './offers.ts'

/** Headers that carry payments: only the seller's server may get them. */
export const paymentHeaders = ['payment-signature', 'x-payment']

/** Returns the wallet of a private key. */
export async function walletOf(key: string) {
  const { privateKeyToAccount } = await import('viem/accounts')
  return privateKeyToAccount(key as `0x${string}`)
}

/** Returns the header that pays exactly this offer. */
export async function signPayment(
  wallet: Awaited<ReturnType<typeof walletOf>>,
  offer: SellersOffer,
): Promise<{ name: string; value: string }> {
  const { version, units, validSeconds, network, asset, payTo, extra, accepted, resource } = offer
  const common = { scheme: 'exact', asset, payTo, maxTimeoutSeconds: validSeconds, extra }
  const paid = {
    ...common,
    amount: units,
    maxAmountRequired: units,
    network: version === 1 ? network : chainOf(offer),
  }
  const { ExactEvmScheme } =
    version === 2
      ? await import('@x402/evm/exact/client')
      : { ExactEvmScheme: (await import('@x402/evm/exact/v1/client')).ExactEvmSchemeV1 }
  const signer = new ExactEvmScheme(wallet)
  const { payload } = await signer.createPaymentPayload(version, paid as never)
  if (version === 1) return header('x-payment', { x402Version: 1, scheme: 'exact', network, payload })
  return header('payment-signature', { x402Version: 2, resource, accepted, payload })
}

function chainOf({ chain }: SellersOffer): string {
  return `eip155:${chain}`
}

function header(name: string, payment: object) {
  return { name, value: Buffer.from(JSON.stringify(payment)).toString('base64') }
}
