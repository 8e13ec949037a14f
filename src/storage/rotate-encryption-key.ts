import type { Kysely } from 'kysely'
import { AppError } from '#platform/errors.ts'
import type { SecretBox } from '#platform/secret-box.ts'
import { inTransaction } from '#platform/transaction.ts'
import { isKeyCheckOf, readKeyCheck, writeKeyCheck } from './check-encryption-key.ts'
import { credentialContext } from './credential-context.ts'
import type { PlatformTables } from './tables.ts'

interface Rotation {
  platform: Kysely<PlatformTables>
  previous: SecretBox
  current: SecretBox
}

/** Numbers of credentials. */
export interface RotationResult {
  resealed: number
  /** Under the current key already. */
  left: number
}

/**
 * Seals all credentials anew with the current key, in one transaction: it may be run again, also after a crash.
 * @throws AppError `INTERNAL_ERROR`, having changed nothing, when a credential opens with neither key.
 */
export async function rotateEncryptionKey({
  platform,
  previous,
  current,
}: Rotation): Promise<RotationResult> {
  return await inTransaction(platform, async transaction => {
    await requireKnownKey(transaction, previous, current)
    const rows = await transaction.selectFrom('agent_credentials').selectAll().execute()
    const outdated = rows.filter(row => !current.owns(row.sealed))
    for (const { agent_id, name, sealed } of outdated) {
      const context = credentialContext(agent_id, name)
      await transaction
        .updateTable('agent_credentials')
        .set({ sealed: current.seal(previous.open(sealed, context), context) })
        .where('agent_id', '=', agent_id)
        .where('name', '=', name)
        .execute()
    }
    await writeKeyCheck(transaction, current)
    return { resealed: outdated.length, left: rows.length - outdated.length }
  })
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
