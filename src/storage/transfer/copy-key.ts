/** Credentials are copied sealed, so the copy needs the key of its source. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { decodeKey, writeKeyFile } from '#platform/encryption/encryption-key.ts'
import { createSecretBox } from '#platform/encryption/secret-box.ts'
import { readKeyCheck } from '../encryption/check-encryption-key.ts'
import type { StorageEnd } from './storage-end.ts'

/** @throws Error if there is a key beside the target that the source was not written with: a service would use it. */
export async function requireNoOtherKey(source: StorageEnd, target: StorageEnd): Promise<void> {
  const { keyFile } = target
  if (keyFile === undefined || !existsSync(keyFile) || (await isKeyOf(source, keyFile))) return
  throw new Error(`the key in ${keyFile} is not the one of the data in ${source.name}. Move that file away.`)
}

/** Copies a generated key to where the service looks for it; returns a sentence about the key for the operator. */
export async function copyKey(source: StorageEnd, target: StorageEnd): Promise<string> {
  const from = source.keyFile
  if (from === undefined || !existsSync(from) || !(await isKeyOf(source, from)))
    return (
      'Start it with the same encryption key as so far: ENCRYPTION_KEY, or the file encryption.key in the DATA_DIR ' +
      'of the service that used the source.'
    )
  const to = target.keyFile
  if (to === undefined) return `Set ENCRYPTION_KEY to the key that stands in ${from}.`
  await writeKeyFile(to, await readFile(from, 'utf8'))
  return `The encryption key was copied to ${to}.`
}

/** Returns true also for data that was never opened with a key, which accepts any. */
async function isKeyOf({ platform }: StorageEnd, keyFile: string): Promise<boolean> {
  const sealed = await readKeyCheck(platform)
  if (sealed === undefined) return true
  const text = await readFile(keyFile, 'utf8')
  return createSecretBox(decodeKey(text.trim(), keyFile)).owns(sealed)
}
