import type { Kysely } from 'kysely'
import type { SecretBox } from '#platform/encryption/secret-box.ts'
import { AppError } from '#platform/errors.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { PlatformTables } from '../tables.ts'
import { agentSecretContext } from './agent-secrets.ts'
import { isKeyCheckOf, readKeyCheck, writeKeyCheck } from './check-encryption-key.ts'
import { credentialContext } from './credential-context.ts'

interface Rotation {
  platform: Kysely<PlatformTables>
  previous: SecretBox
  current: SecretBox
}

/** The numbers of credentials and secrets. */
export interface RotationResult {
  resealed: number
  /** Number of values already sealed with the current key. */
  left: number
}

/**
 * Reseals all credentials and secrets with the current key, in one transaction. It can be run again, also
 * after a crash.
 * @throws AppError `INTERNAL_ERROR`, having changed nothing, if one of them opens with neither key.
 */
export async function rotateEncryptionKey({
  platform,
  previous,
  current,
}: Rotation): Promise<RotationResult> {
  return await inTransaction(platform, async transaction => {
    await requireKnownKey(transaction, previous, current)
    const secrets = [...(await listCredentials(transaction)), ...(await listSecrets(transaction))]
    const outdated = secrets.filter(({ sealed }) => !current.owns(sealed))
    for (const { sealed, context, replace } of outdated)
      await replace(current.seal(previous.open(sealed, context), context))
    await writeKeyCheck(transaction, current)
    return { resealed: outdated.length, left: secrets.length - outdated.length }
  })
}

/** A sealed value of any table. */
interface Kept {
  sealed: string
  context: string[]
  replace(sealed: string): Promise<unknown>
}

async function listCredentials(transaction: Kysely<PlatformTables>): Promise<Kept[]> {
  const rows = await transaction.selectFrom('agent_credentials').selectAll().execute()
  return rows.map(({ sealed, ...key }) => ({
    sealed,
    context: credentialContext(key.agent_id, key.name),
    replace: anew =>
      transaction
        .updateTable('agent_credentials')
        .set({ sealed: anew })
        .where(({ and }) => and(key))
        .execute(),
  }))
}

async function listSecrets(transaction: Kysely<PlatformTables>): Promise<Kept[]> {
  const rows = await transaction.selectFrom('agent_secrets').selectAll().execute()
  return rows.map(({ sealed, ...key }) => ({
    sealed,
    context: agentSecretContext(key.agent_id, key.set_id, key.name),
    replace: anew =>
      transaction
        .updateTable('agent_secrets')
        .set({ sealed: anew })
        .where(({ and }) => and(key))
        .execute(),
  }))
}

async function requireKnownKey(
  platform: Kysely<PlatformTables>,
  previous: SecretBox,
  current: SecretBox,
): Promise<void> {
  const sealed = await readKeyCheck(platform)
  if (sealed === undefined || isKeyCheckOf(previous, sealed) || isKeyCheckOf(current, sealed)) return
  throw new AppError(
    'INTERNAL_ERROR',
    'Neither the current nor the previous encryption key is the one that this data was written with. Set ' +
      'ENCRYPTION_KEY_PREVIOUS to that key.',
  )
}
