/** What a target records about an incomplete transfer, among the facts of its platform database. */
import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { AppError } from '#platform/errors.ts'
import type { PlatformTables } from '../tables.ts'

type Platform = Kysely<PlatformTables>

/** What is copied: all of a source, or one of its agents. */
export interface Transfer {
  /** `name` of the source. */
  from: string
  agent: string | null
}

const transferFact = 'transfer'
const agentPrefix = 'transfer of '

/** Selects the facts that belong to the data, as opposed to its transfer. */
export const isOwnFact = sql`name <> ${transferFact} and substr(name, 1, ${sql.lit(agentPrefix.length)}) <> ${agentPrefix}`

/**
 * To be called before a service uses the data.
 * @throws AppError `INTERNAL_ERROR` with a sentence for the operator while a transfer into it is not complete.
 */
export async function requireCompleteTransfer(platform: Platform): Promise<void> {
  const transfer = await readTransfer(platform)
  if (transfer === undefined) return
  const { agent } = transfer
  const what = agent === null ? 'the data' : `the agent ${agent}`
  const otherwise =
    agent === null
      ? ''
      : ` Or give the copy up: npm run migrate-data -- --to PLACE --agent ${agent} --abandon`
  throw new AppError(
    'INTERNAL_ERROR',
    `Copying ${what} from ${transfer.from} to here is not complete. Run the same command of npm run migrate-data ` +
      `again: it goes on where it stopped.${otherwise}`,
  )
}

export async function readTransfer(platform: Platform): Promise<Transfer | undefined> {
  const text = await readFact(platform, transferFact)
  return text === undefined ? undefined : (JSON.parse(text) as Transfer)
}

export async function beginTransfer(platform: Platform, { from, agent }: Transfer): Promise<void> {
  await writeFact(platform, transferFact, JSON.stringify({ from, agent }))
}

/** The digest of what was copied of an agent, if its copy was found to equal its source. */
export function readCopied(platform: Platform, agentId: string): Promise<string | undefined> {
  return readFact(platform, `${agentPrefix}${agentId}`)
}

export async function noteCopied(platform: Platform, agentId: string, sum: string): Promise<void> {
  await writeFact(platform, `${agentPrefix}${agentId}`, sum)
}

export async function forgetCopied(platform: Platform, agentId: string): Promise<void> {
  await platform.deleteFrom('platform_facts').where('name', '=', `${agentPrefix}${agentId}`).execute()
}

/** From now on the data may be used. */
export async function endTransfer(platform: Platform): Promise<void> {
  await platform.deleteFrom('platform_facts').where(sql<boolean>`not (${isOwnFact})`).execute()
}

async function readFact(platform: Platform, name: string): Promise<string | undefined> {
  const row = await platform
    .selectFrom('platform_facts')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirst()
  return row?.value
}

async function writeFact(platform: Platform, name: string, value: string): Promise<void> {
  await platform
    .insertInto('platform_facts')
    .values({ name, value })
    .onConflict(conflict => conflict.column('name').doUpdateSet({ value }))
    .execute()
}
