import type { Kysely } from 'kysely'
import { readKeyFiles, takeNextKey } from '#platform/encryption/encryption-key.ts'
import { createSecretBox, type SecretBox } from '#platform/encryption/secret-box.ts'
import { AppError } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import type { PlatformTables } from '../tables.ts'

const factName = 'encryption_key_check'
const context = ['platform', factName]
const knownText = 'opened with the right key'

/**
 * Compares the key with the one that this database was used with; a new database stores a check value of this one.
 * @throws AppError `INTERNAL_ERROR` with a sentence for the operator when the keys differ.
 */
export async function checkEncryptionKey(platform: Kysely<PlatformTables>, box: SecretBox): Promise<void> {
  // If several processes start on an empty database, the first one decides.
  await platform
    .insertInto('platform_facts')
    .values({ name: factName, value: box.seal(knownText, context) })
    .onConflict(conflict => conflict.doNothing())
    .execute()
  const sealed = await readKeyCheck(platform)
  if (sealed === undefined || !isKeyCheckOf(box, sealed)) throw wrongKey()
}

/** Completes a change of the generated key that crashed after its transaction, with the new key in a file. */
export async function finishRotation(
  platform: Kysely<PlatformTables>,
  path: string,
  log: Log,
): Promise<void> {
  const { next } = await readKeyFiles(path, log)
  const sealed = await readKeyCheck(platform)
  if (next && sealed !== undefined && isKeyCheckOf(createSecretBox(next), sealed)) await takeNextKey(path)
}

export async function readKeyCheck(platform: Kysely<PlatformTables>): Promise<string | undefined> {
  const fact = await platform
    .selectFrom('platform_facts')
    .select('value')
    .where('name', '=', factName)
    .executeTakeFirst()
  return fact?.value
}

/** Copies the check value of one database to another, if that has none yet. */
export async function copyKeyCheck(from: Kysely<PlatformTables>, to: Kysely<PlatformTables>): Promise<void> {
  const value = await readKeyCheck(from)
  if (value === undefined) return
  await to
    .insertInto('platform_facts')
    .values({ name: factName, value })
    .onConflict(conflict => conflict.doNothing())
    .execute()
}

export async function writeKeyCheck(platform: Kysely<PlatformTables>, box: SecretBox): Promise<void> {
  const value = box.seal(knownText, context)
  await platform
    .insertInto('platform_facts')
    .values({ name: factName, value })
    .onConflict(conflict => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

export function isKeyCheckOf(box: SecretBox, sealed: string): boolean {
  return box.owns(sealed) && box.open(sealed, context) === knownText
}

function wrongKey(): AppError {
  return new AppError(
    'INTERNAL_ERROR',
    'The encryption key is not the one that this data was written with. Set ENCRYPTION_KEY to that key, or put ' +
      'back the file encryption.key in the data directory; processes that share a database need the same key. To change the key, start `npm run rotate-key` with the ' +
      'old one in ENCRYPTION_KEY_PREVIOUS.',
  )
}
