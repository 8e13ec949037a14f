import type { ExpressionBuilder, Kysely, Selectable } from 'kysely'
import type { PlatformTables } from '#storage/tables.ts'

type Database = Kysely<PlatformTables>
export type Claim = Selectable<PlatformTables['x402_claims']>

/** Who holds claims, and until when. */
export interface Holding {
  holder: string
  now: string
  expiresAt: string
  /** No other process is alive: whoever else holds a claim is dead. */
  isExclusive: boolean
}

/** What a claim has while nobody holds it. */
export const freed = { holder: null, lease_expires_at: null }

/** False, and nothing is inserted, if the payment was presented before. */
export async function insertClaim(database: Database, claim: Claim): Promise<boolean> {
  const inserted = await database
    .insertInto('x402_claims')
    .values(claim)
    .onConflict(conflict => conflict.column('key').doNothing())
    .returning('key')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Takes a claim that nobody alive holds; undefined if somebody does, or there is none. */
export async function takeClaim(
  database: Database,
  key: string,
  holding: Holding,
): Promise<Claim | undefined> {
  const { holder, expiresAt } = holding
  return await database
    .updateTable('x402_claims')
    .set({ holder, lease_expires_at: expiresAt })
    .where('key', '=', key)
    .where(isFree(holding))
    .returningAll()
    .executeTakeFirst()
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
  return await database
    .selectFrom('x402_claims')
    .selectAll()
    .where(({ and }) => and(by))
    .executeTakeFirst()
}

/** False if somebody else holds it by now. */
export async function updateClaim(
  database: Database,
  { key, holder }: Pick<Claim, 'key' | 'holder'>,
  changes: Partial<Claim>,
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable('x402_claims')
    .set(changes)
    .where('key', '=', key)
    .where('holder', '=', holder)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Only in the state in which the holder knows it: once somebody may have been paid, a claim stays. */
export async function deleteClaim(
  database: Database,
  { key, holder, state }: Pick<Claim, 'key' | 'holder' | 'state'>,
): Promise<void> {
  await database
    .deleteFrom('x402_claims')
    .where('key', '=', key)
    .where('holder', '=', holder)
    .where('state', '=', state)
    .execute()
}
