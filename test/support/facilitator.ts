/** An x402 facilitator on loopback: it checks signatures as the real ones do (EIP-3009), and settles each nonce once. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { verifyTypedData } from 'viem/utils'

/** What happens to calls of `settle`: `then` is done before it, and `pending` settles at the second try. */
export type SettleMode =
  | 'ok'
  | 'refuse'
  | 'error'
  | 'error with body'
  | 'junk'
  | 'hang'
  | 'drop'
  | 'pending'
  | 'settle, then hang'
  | 'settle, then drop'
  | 'slow'

export interface Facilitator extends AsyncDisposable {
  url: string
  /** Environment variables that make it the facilitator of the service. */
  environment: Record<string, string>
  /** How the next calls of `settle` go; `ok` when the list is used up. */
  modes: SettleMode[]
  /** The same for all calls. */
  mode: SettleMode
  /** While it is false, `verify` answers with an error. */
  verifies: boolean
  /** Whether it tells of what it has settled when it is asked to settle that again, instead of that the nonce is used. */
  remembers: boolean
  /** Called before each step of a call: what it does comes first. */
  before(step: 'verify' | 'settle' | 'answer'): void | Promise<void>
  /** Called when a call has got no answer and will get none. */
  hangs(): void
  /** Nonces that were settled, in order: none is there twice. */
  settled: string[]
  calls: { path: string; nonce: string }[]
}

interface Asked {
  x402Version: number
  paymentPayload: { payload: { signature: `0x${string}`; authorization: Authorization } }
  paymentRequirements: {
    network: string
    amount?: string
    maxAmountRequired?: string
    asset: `0x${string}`
    payTo: string
    extra: { name: string; version: string }
  }
}

interface Authorization {
  from: `0x${string}`
  to: `0x${string}`
  value: string
  validAfter: string
  validBefore: string
  nonce: `0x${string}`
}

type Reply = { status?: number; body: object } | 'hang' | 'drop' | 'junk'

/** Nothing is settled. */
const mishaps: Partial<Record<SettleMode, Reply>> = {
  error: { status: 500, body: { message: 'broken' } },
  junk: 'junk',
  drop: 'drop',
  hang: 'hang',
}

const refusals: Partial<Record<SettleMode, string>> = {
  refuse: 'insufficient_funds',
  'error with body': 'unexpected_error',
  pending: 'settlement_pending',
}

/** What it has settled, it does not tell. */
const lost: Partial<Record<SettleMode, Reply>> = {
  'settle, then drop': 'drop',
  'settle, then hang': 'hang',
}

export const payTo = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
const chains: Record<string, number> = { base: 8453, 'base-sepolia': 84532 }

export async function startFacilitator(): Promise<Facilitator> {
  const seen = new Set<string>()
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(error => response.destroy(error))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const facilitator: Facilitator = {
    url,
    environment: { X402_FACILITATOR_URL: url, X402_PAY_TO: payTo },
    modes: [],
    mode: 'ok',
    verifies: true,
    remembers: false,
    before: () => {},
    hangs: () => {},
    settled: [],
    calls: [],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }

  async function verify(asked: Asked): Promise<Reply> {
    await facilitator.before('verify')
    const { from: payer } = asked.paymentPayload.payload.authorization
    const problem = await problemOf(asked, facilitator.settled)
    return facilitator.verifies
      ? { body: { isValid: problem === undefined, invalidReason: problem, payer } }
      : { status: 500, body: {} }
  }

  /** What was pending is settled by the second try. */
  function nextMode(nonce: string): SettleMode {
    const mode = facilitator.modes.shift() ?? facilitator.mode
    const isRepeated = seen.has(nonce)
    seen.add(nonce)
    return mode === 'pending' && isRepeated ? 'ok' : mode
  }

  async function settle(asked: Asked): Promise<Reply> {
    const { from: payer, nonce } = asked.paymentPayload.payload.authorization
    const { network } = asked.paymentRequirements
    const refused = (errorReason: string, status = 200) => ({
      status,
      body: { success: false, errorReason, transaction: '', network, payer },
    })
    const done = { body: { success: true, transaction: `0x${nonce.slice(-8)}`, network, payer } }
    await facilitator.before('settle')
    if (facilitator.remembers && facilitator.settled.includes(nonce)) return done
    const problem = await problemOf(asked, facilitator.settled)
    if (problem !== undefined) return refused(problem)
    const mode = nextMode(nonce)
    const reason = refusals[mode]
    if (reason !== undefined) return refused(reason, mode === 'error with body' ? 500 : 200)
    const mishap = mishaps[mode]
    if (mishap !== undefined) return mishap
    if (mode === 'slow') await delay(300)
    facilitator.settled.push(nonce)
    await facilitator.before('answer')
    return lost[mode] ?? done
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const piece of incoming.setEncoding('utf8')) text += piece
    const { url: path = '' } = incoming
    if (path !== '/supported') {
      const { nonce } = (JSON.parse(text) as Asked).paymentPayload.payload.authorization
      facilitator.calls.push({ path, nonce })
    }
    const reply =
      path === '/supported'
        ? { body: supported }
        : await (path === '/verify' ? verify : settle)(JSON.parse(text) as Asked)
    if (reply === 'drop') response.destroy()
    else if (reply === 'junk') response.end('<html>')
    else if (reply === 'hang') facilitator.hangs()
    else
      response
        .writeHead(reply.status ?? 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(reply.body))
  }

  return facilitator
}

const supported = {
  kinds: [
    { x402Version: 2, scheme: 'exact', network: 'eip155:84532' },
    { x402Version: 1, scheme: 'exact', network: 'base-sepolia' },
  ],
  extensions: [],
  signers: {},
}

async function problemOf(
  { paymentPayload, paymentRequirements }: Asked,
  settled: readonly string[],
): Promise<string | undefined> {
  const { signature, authorization } = paymentPayload.payload
  const { network, amount, maxAmountRequired, asset, payTo: wanted, extra } = paymentRequirements
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const isSigned = await verifyTypedData({
    address: from,
    domain: {
      ...extra,
      chainId: chains[network] ?? Number(network.split(':')[1]),
      verifyingContract: asset,
    },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message: {
      from,
      to,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce,
    },
    signature,
  }).catch(() => false)
  if (settled.includes(nonce)) return 'nonce_used'
  if (!isSigned) return 'invalid_exact_evm_payload_signature'
  if (to.toLowerCase() !== wanted.toLowerCase()) return 'invalid_exact_evm_payload_recipient_mismatch'
  if (value !== (amount ?? maxAmountRequired)) return 'invalid_exact_evm_payload_authorization_value'
  const now = Date.now() / 1000
  if (Number(validAfter) > now) return 'invalid_exact_evm_payload_authorization_valid_after'
  return Number(validBefore) < now + 6 ? 'invalid_exact_evm_payload_authorization_valid_before' : undefined
}
