/** `npm run rotate-key`: seals all stored credentials with ENCRYPTION_KEY, which were sealed with ENCRYPTION_KEY_PREVIOUS. */
import { resolve } from 'node:path'
import type { Configuration } from '#configuration/configuration.ts'
import { openStorage } from '#infrastructure/open-storage.ts'
import { decodeKey } from '#platform/encryption/encryption-key.ts'
import { createSecretBox } from '#platform/encryption/secret-box.ts'
import { createLog } from '#platform/logging/log.ts'
import type { RotationResult } from '#storage/encryption/rotate-encryption-key.ts'
import { rotateEncryptionKey } from '#storage/encryption/rotate-encryption-key.ts'
import { openPlatformDatabase } from '#storage/platform-database.ts'
import { configurationOrExit, exitBecause } from './exit.ts'

async function rotateKey(configuration: Configuration): Promise<RotationResult> {
  const { previous, current } = keysOf(configuration)
  const { engine } = await openStorage(configuration, createLog(configuration.logLevel))
  try {
    if (!(await engine.isUsed())) throw new Error(nothingThere(configuration))
    await using _held = await heldData(configuration)
    await using platform = await openPlatformDatabase(engine)
    return await rotateEncryptionKey({ platform, previous, current })
  } finally {
    await engine.close()
  }
}

/** Keeps services away. A data directory was locked when it was opened. */
async function heldData({ database }: Configuration): Promise<AsyncDisposable | undefined> {
  if (database === undefined) return undefined
  const { claimData } = await import('#storage/postgres/connections/data-lock.ts')
  return await claimData(database.url, 'this database')
}

function nothingThere({ database, dataDirectory }: Configuration): string {
  return database === undefined
    ? `there is no data in ${resolve(dataDirectory)}. Set DATA_DIR to the folder that the service uses.`
    : 'there is no data of the service in this database. Set DATABASE_URL to the one that it uses.'
}

function keysOf({ encryptionKey, encryptionKeyPrevious }: Configuration) {
  if (encryptionKey === undefined || encryptionKeyPrevious === undefined)
    throw new Error(
      'set ENCRYPTION_KEY to the new key, as made by: openssl rand -base64 32, and ENCRYPTION_KEY_PREVIOUS to the ' +
        'old one, which stands in the file encryption.key of the data directory if the service has made it.',
    )
  if (encryptionKey === encryptionKeyPrevious)
    throw new Error('ENCRYPTION_KEY and ENCRYPTION_KEY_PREVIOUS are the same key.')
  return {
    previous: createSecretBox(decodeKey(encryptionKeyPrevious, 'ENCRYPTION_KEY_PREVIOUS')),
    current: createSecretBox(decodeKey(encryptionKey, 'ENCRYPTION_KEY')),
  }
}

const { resealed, left } = await rotateKey(configurationOrExit()).catch(error =>
  exitBecause('The key was not changed', error),
)
process.stdout.write(
  `Credentials sealed with the new key: ${resealed}; with it already: ${left}.\n` +
    'From now on start the service with this ENCRYPTION_KEY, and without ENCRYPTION_KEY_PREVIOUS.\n',
)
