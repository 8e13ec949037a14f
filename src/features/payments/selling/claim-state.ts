import type { AnswerEnd } from '#platform/http/gate.ts'
import type { Claim } from './claims.repository.ts'
import type { Receipt } from './resources.schema.ts'
import type { Outcome } from './settlements.ts'

/*
 * The claim of a payment within one request.
 * free --taken--> held --settled--> settled; free, held --refused--> refused
 * held --released--> free; settled --released--> settled, without its claim
 */
export type ClaimState =
  | { kind: 'free' }
  | { kind: 'held'; claim: Claim }
  /** The request was paid for. The claim is absent once it is released. */
  | { kind: 'settled'; claim?: Claim | undefined; receipt: Receipt }
  | { kind: 'refused'; why: Refusal }

export type Refusal =
  | { reason: 'used' }
  | { reason: 'pending' }
  /** The payment can not be settled, by a sentence. */
  | { reason: 'invalid'; problem: string }
  /** The settlement was refused, by the facilitator's word. */
  | { reason: 'declined'; problem: string }

export type ClaimEvent =
  | { type: 'taken'; claim: Claim | 'used' | 'busy' }
  | { type: 'invalid'; problem: string }
  | { type: 'settled'; settlement: Outcome }
  | { type: 'released' }

export const free: ClaimState = { kind: 'free' }

/** Returns the state after an event; events that do not fit the state leave it as it is. */
export function next(state: ClaimState, event: ClaimEvent): ClaimState {
  switch (event.type) {
    case 'taken':
      return state.kind === 'free' ? afterTaking(event.claim) : state
    case 'invalid':
      return { kind: 'refused', why: { reason: 'invalid', problem: event.problem } }
    case 'settled':
      return state.kind === 'held' ? afterSettlement(event.settlement) : state
    case 'released':
      return state.kind === 'settled' ? { kind: 'settled', receipt: state.receipt } : afterRelease(state)
  }
}

function afterTaking(claim: Claim | 'used' | 'busy'): ClaimState {
  if (claim === 'used') return { kind: 'refused', why: { reason: 'used' } }
  return claim === 'busy' ? { kind: 'refused', why: { reason: 'pending' } } : { kind: 'held', claim }
}

function afterSettlement(settlement: Outcome): ClaimState {
  if (settlement.outcome === 'settled')
    return { kind: 'settled', claim: settlement.claim, receipt: settlement.receipt }
  const isUnknown = settlement.outcome === 'unknown'
  return {
    kind: 'refused',
    why: isUnknown ? { reason: 'pending' } : { reason: 'declined', problem: settlement.reason },
  }
}

function afterRelease(state: ClaimState): ClaimState {
  return state.kind === 'held' ? free : state
}

/** Returns the claim that the request holds. */
export function heldClaim(state: ClaimState): Claim | undefined {
  return 'claim' in state ? state.claim : undefined
}

/** Returns the end that counts for the claim: a request that was not paid for was not begun. */
export function countedEnd(state: ClaimState, end: AnswerEnd): AnswerEnd {
  return end === 'unfinished' && state.kind !== 'settled' ? 'failed' : end
}
