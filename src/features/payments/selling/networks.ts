/** Networks for payments: their usual dollar coin takes signed authorizations (EIP-3009). */
export const networks = [
  { name: 'base', id: 'eip155:8453' },
  { name: 'base-sepolia', id: 'eip155:84532' },
  { name: 'ethereum', id: 'eip155:1' },
  { name: 'avalanche', id: 'eip155:43114' },
  { name: 'avalanche-fuji', id: 'eip155:43113' },
  { name: 'polygon', id: 'eip155:137' },
  { name: 'polygon-amoy', id: 'eip155:80002' },
  { name: 'monad', id: 'eip155:143' },
  { name: 'stable', id: 'eip155:988' },
  { name: 'stable-testnet', id: 'eip155:2201' },
] as const

/** `name` in version 1 of the protocol, `id` in version 2. */
export interface PaymentNetwork {
  name: string
  id: `eip155:${number}`
}

export function findNetwork(nameOrId: string): PaymentNetwork | undefined {
  return networks.find(({ name, id }) => name === nameOrId || id === nameOrId)
}
