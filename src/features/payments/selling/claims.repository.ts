import type { ExpressionBuilder, Kysely, Selectable } from 'kysely'
import type { PlatformTables } from '#storage/tables.ts'

/**
 * The states of a claim, and their successors. A claim begins as `claimed`, and is never deleted as `served`.
 *
 * - `claimed`: presented; the facilitator has not received it
 * - `settling`: it might have been settled
 * - `stuck`: it might have been settled, and only a person can find out
 * - `settled`: paid for, not served yet
 * - `served`: used up
 */
const following = {
  claimed: ['settling'],
  settling: ['settled', 'stuck'],
  stuck: ['settled'],
  settled: ['settled', 'served'],
  served: [],
} as const

export type ClaimState = keyof typeof following
type Following<State extends ClaimState> = (typeof following)[State][number]

type Database = Kysely<PlatformTables>
type Row = Selectable<PlatformTables['x402_claims']>

/** A payment that was presented with a request. A process that works on it holds it. */
export interface Claim<State extends ClaimState = ClaimState> extends Omit<Row, 'state'> {
  state: State
}

export function isIn<State extends ClaimState>(claim: Claim, ...states: State[]): claim is Claim<State> {
  return (states as ClaimState[]).includes(claim.state)
}

/** The holder of claims and the end of the hold. */
export interface Holding {
  holder: string
  now: string
  expiresAt: string
  /** True if no other process is alive: other holders of claims are dead. */
  isExclusive: boolean
}

/** Changes that release a claim. */
export const freed = { holder: null, lease_expires_at: null }

/** Returns false and inserts nothing if the payment was presented before. */
export async function insertClaim(database: Database, claim: Claim<'claimed'>): Promise<boolean> {
  const inserted = await database
    .insertInto('x402_claims')
    .values(claim)
    .onConflict(conflict => conflict.column('key').doNothing())
    .returning('key')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Takes a claim that no living process holds; undefined without one. */
export async function takeClaim(
  database: Database,
  key: string,
  holding: Holding,
): Promise<Claim | undefined> {
  const { holder, expiresAt } = holding
  const taken = await database
    .updateTable('x402_claims')
    .set({ holder, lease_expires_at: expiresAt })
    .where('key', '=', key)
    .where(isFree(holding))
    .returningAll()
    .executeTakeFirst()
  return taken as Claim | undefined
}

function isFree({ holder, now, isExclusive }: Holding) {
  return ({ eb, or }: ExpressionBuilder<PlatformTables, 'x402_claims'>) =>
    or([
      eb('holder', 'is', null),
      eb('lease_expires_at', '<=', now),
      ...(isExclusive ? [eb('holder', '!=', holder)] : []),
    ])
}

export async function findClaim(
  database: Database,
  by: Pick<Claim, 'key'> | Pick<Claim, 'agent_id' | 'transaction_id'>,
): Promise<Claim | undefined> {
  const found = await database
    .selectFrom('x402_claims')
    .selectAll()
    .where(({ and }) => and(by))
    .executeTakeFirst()
  return found as Claim | undefined
}

/** Returns the claim in its next state; undefined, without a change, if another has taken or moved it. */
export async function moveClaim<From extends ClaimState, To extends Following<From>>(
  database: Database,
  claim: Claim<From>,
  state: To,
  changes: Partial<Omit<Row, 'state'>> = {},
): Promise<Claim<To> | undefined> {
  const moved = { ...changes, state }
  return (await updateHeld(database, claim, moved)) ? { ...claim, ...moved } : undefined
}

/** Returns false and changes nothing if another process holds the claim by now. */
export async function updateHeld(
  database: Database,
  { key, holder, state }: Claim,
  changes: Partial<Row>,
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable('x402_claims')
    .set(changes)
    .where('key', '=', key)
    .where('holder', '=', holder)
    .$if(changes.state !== undefined, query => query.where('state', '=', state))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Deletes a claim only in the holder's known state: a claim that might have been settled stays. */
export async function deleteClaim(database: Database, { key, holder, state }: Claim): Promise<void> {
  await database
    .deleteFrom('x402_claims')
    .where('key', '=', key)
    .where('holder', '=', holder)
    .where('state', '=', state)
    .execute()
}
