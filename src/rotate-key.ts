/**
 * `npm run rotate-key`: seals all stored credentials, so far sealed with ENCRYPTION_KEY_PREVIOUS or the
 * generated key, with ENCRYPTION_KEY or a new generated key. The file of the generated key is replaced.
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Configuration } from '#configuration/configuration.ts'
import { openStorage } from '#infrastructure/open-storage.ts'
import { decodeKey, readKeyFiles, takeNextKey, writeNextKey } from '#platform/encryption/encryption-key.ts'
import { createSecretBox, keyLength } from '#platform/encryption/secret-box.ts'
import { createLog } from '#platform/logging/log.ts'
import { finishRotation } from '#storage/encryption/check-encryption-key.ts'
import { type RotationResult, rotateEncryptionKey } from '#storage/encryption/rotate-encryption-key.ts'
import { openPlatformDatabase } from '#storage/platform-database.ts'
import { configurationOrExit, exitBecause } from './exit.ts'

interface Rotated extends RotationResult {
  /** The file of the generated key, if it holds the new one. */
  file: string | undefined
}

async function rotateKey(configuration: Configuration): Promise<Rotated> {
  requireKeys(configuration)
  const log = createLog(configuration.logLevel)
  const { engine, encryptionKeyFile: file } = await openStorage(configuration, log)
  try {
    if (!(await engine.isUsed())) throw new Error(nothingThere(configuration))
    await using _held = await heldData(configuration)
    await using platform = await openPlatformDatabase(engine)
    await finishRotation(platform, file, log)
    const { key: generated } = await readKeyFiles(file, log)
    const { previous, current } = keysOf(configuration, generated)
    const isOfFile = generated !== undefined && Buffer.compare(generated, previous) === 0
    // At any end of this process, one of the two files holds the key of the data.
    if (isOfFile) await writeNextKey(file, current)
    const boxes = { previous: createSecretBox(previous), current: createSecretBox(current) }
    const result = await rotateEncryptionKey({ platform, ...boxes })
    if (isOfFile) await takeNextKey(file)
    return { ...result, file: isOfFile ? file : undefined }
  } finally {
    await engine.close()
  }
}

/** Locks out services. A data directory was locked when it was opened. */
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

/** Checks the keys before anything is opened. */
function requireKeys({ encryptionKey, encryptionKeyPrevious, dataDirectory }: Configuration): void {
  if (encryptionKey !== undefined && encryptionKey === encryptionKeyPrevious)
    throw new Error('ENCRYPTION_KEY and ENCRYPTION_KEY_PREVIOUS are the same key.')
  const isGenerated = existsSync(join(resolve(dataDirectory), 'encryption.key'))
  const isComplete = encryptionKeyPrevious === undefined ? isGenerated : encryptionKey !== undefined
  if (!isComplete)
    throw new Error(
      'set ENCRYPTION_KEY to the new key, as made by: openssl rand -base64 32, and ENCRYPTION_KEY_PREVIOUS to the ' +
        'old one. Neither is needed where the service has made its key, in the file encryption.key of the data directory.',
    )
}

/** Returns both keys. The previous one defaults to the generated key; without a new key, one is generated. */
function keysOf({ encryptionKey, encryptionKeyPrevious }: Configuration, generated: Uint8Array | undefined) {
  const namedKey = encryptionKeyPrevious && decodeKey(encryptionKeyPrevious, 'ENCRYPTION_KEY_PREVIOUS')
  const previous = namedKey || generated
  if (previous === undefined) throw new Error('the file encryption.key is gone.')
  return {
    previous,
    current: encryptionKey ? decodeKey(encryptionKey, 'ENCRYPTION_KEY') : randomBytes(keyLength),
  }
}

const { resealed, left, file } = await rotateKey(configurationOrExit()).catch(error =>
  exitBecause('The key was not changed', error),
)
process.stdout.write(
  `Credentials sealed with the new key: ${resealed}; with it already: ${left}.\n` +
    (file === undefined
      ? 'From now on start the service with this ENCRYPTION_KEY, and without ENCRYPTION_KEY_PREVIOUS.\n'
      : `${file} holds the new key; keep a copy of it. Start the service without ENCRYPTION_KEY_PREVIOUS.\n`),
)
