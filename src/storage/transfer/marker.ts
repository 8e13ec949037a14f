/** The record of an incomplete transfer, among the facts of the target's platform database. */
import { type Kysely, sql } from 'kysely'
import { AppError } from '#platform/errors.ts'
import type { PlatformTables } from '../tables.ts'

type Platform = Kysely<PlatformTables>

/** The copied part: all of a source, or one of its agents. */
export interface Transfer {
  /** `name` of the source. */
  from: string
  agent: string | null
}

const transferFact = 'transfer'

/** Selects the facts that belong to the data, as opposed to its transfer. */
export const isOwnFact = sql`name <> ${transferFact}`

/**
 * Throws AppError `INTERNAL_ERROR` with a sentence for the operator while a transfer into the data is not
 * complete. Call it before a service uses the data.
 */
export async function requireCompleteTransfer(platform: Platform): Promise<void> {
  const transfer = await readTransfer(platform)
  if (transfer === undefined) return
  const { agent } = transfer
  const what = agent === null ? 'the data' : `the agent ${agent}`
  throw new AppError(
    'INTERNAL_ERROR',
    `Copying ${what} from ${transfer.from} to here is not complete. Run the same command of npm run migrate-data ` +
      'again: it begins anew.',
  )
}

export async function readTransfer(platform: Platform): Promise<Transfer | undefined> {
  const row = await platform
    .selectFrom('platform_facts')
    .select('value')
    .where('name', '=', transferFact)
    .executeTakeFirst()
  return row === undefined ? undefined : (JSON.parse(row.value) as Transfer)
}

export async function beginTransfer(platform: Platform, { from, agent }: Transfer): Promise<void> {
  const value = JSON.stringify({ from, agent })
  await platform
    .insertInto('platform_facts')
    .values({ name: transferFact, value })
    .onConflict(conflict => conflict.column('name').doNothing())
    .execute()
}

/** Ends the transfer: from now on services may use the data. */
export async function endTransfer(platform: Platform): Promise<void> {
  await platform.deleteFrom('platform_facts').where('name', '=', transferFact).execute()
}
