import type { HTTPFacilitatorClient } from '@x402/core/http'
import { AppError } from '#platform/errors.ts'
import type { PaymentNetwork } from './networks.ts'

/** Max duration of one request (ms). */
const timeoutMs = 10_000

/** The outcome of settling. If it is unknown, only time or a person can resolve it. */
export type Settlement =
  | { outcome: 'settled'; transaction: string; payer: string }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'unknown' }

/** A payment and its requirements, both in the form of one protocol version. */
export interface Presented {
  payment: unknown
  requirements: unknown
}

type Arguments = Parameters<HTTPFacilitatorClient['settle']>

/** The service that checks payments and submits them; its client is loaded at its first use. */
export function createFacilitator(url: string) {
  let loading: Promise<HTTPFacilitatorClient> | undefined

  function client(): Promise<HTTPFacilitatorClient> {
    loading ??= import('@x402/core/http').then(module => new module.HTTPFacilitatorClient({ url, timeoutMs }))
    return loading
  }

  return {
    /** @throws AppError OUTBOUND_FAILED if it can't be reached */
    async supports({ name, id }: PaymentNetwork): Promise<boolean> {
      const { kinds } = await (await client()).getSupported().catch(unreachable)
      return kinds.some(({ scheme, network }) => scheme === 'exact' && (network === id || network === name))
    },

    /** Returns the problem of a payment, or undefined. @throws AppError OUTBOUND_FAILED if unreachable */
    async verify({ payment, requirements }: Presented): Promise<string | undefined> {
      const { verify } = await bound(client())
      try {
        const { isValid, invalidReason } = await verify(...([payment, requirements] as unknown as Arguments))
        return isValid ? undefined : (invalidReason ?? 'invalid_payment')
      } catch (error) {
        if (error instanceof Error && error.name === 'VerifyError' && 'invalidReason' in error)
          return String(error.invalidReason ?? 'invalid_payment')
        return unreachable(error)
      }
    },

    /** Never throws: an unclear response leaves the outcome open. */
    async settle({ payment, requirements }: Presented): Promise<Settlement> {
      const { settle } = await bound(client())
      try {
        const { success, transaction, payer, errorReason } = await settle(
          ...([payment, requirements] as unknown as Arguments),
        )
        return success ? { outcome: 'settled', transaction, payer: payer ?? '' } : refused(errorReason)
      } catch (error) {
        const isAnswer = error instanceof Error && error.name === 'SettleError' && 'errorReason' in error
        return isAnswer ? refused(error.errorReason) : { outcome: 'unknown' }
      }
    },
  }
}

export type Facilitator = ReturnType<typeof createFacilitator>

async function bound(loaded: Promise<HTTPFacilitatorClient>) {
  const client = await loaded
  return { verify: client.verify.bind(client), settle: client.settle.bind(client) }
}

/** A pending payment might still arrive, so its outcome is unknown. */
function refused(reason: unknown): Settlement {
  return reason === 'settlement_pending'
    ? { outcome: 'unknown' }
    : { outcome: 'refused', reason: String(reason ?? 'settlement_failed') }
}

function unreachable(cause: unknown): never {
  throw new AppError(
    'OUTBOUND_FAILED',
    'The x402 facilitator gave no usable answer. Nothing was paid; try again.',
    {
      cause,
    },
  )
}
