import { randomBytes } from 'node:crypto'
import { open, readFile, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError, invalid } from '../errors.ts'
import type { Log } from '../logging/log.ts'
import { keyLength } from './secret-box.ts'

export interface KeySource {
  /** The key as the operator configured it, in base64; undefined to use the file. */
  configured: string | undefined
  /** File of the generated key; made for new data, when there is neither this file nor a configured key. */
  path: string
  /** True if nothing was written with any key yet. */
  isNewData: boolean
  log: Log
}

const ownerOnly = 0o600
const readableByOthers = 0o077

/** @throws AppError when the configured key, or the file's content, is not 32 bytes in base64, or data has lost its key. */
export async function loadKey({ configured, path, isNewData, log }: KeySource): Promise<Uint8Array> {
  if (configured !== undefined) return decodeKey(configured, 'ENCRYPTION_KEY')
  const stored = await readKeyFile(path, log)
  if (stored !== undefined) return decodeKey(stored.trim(), path)
  // A new key would open nothing, and backups of its file would take the place of the right one's.
  if (!isNewData) throw missingKey()
  const key = randomBytes(keyLength)
  await writeKeyFile(path, `${key.toString('base64')}\n`)
  log.info({ path }, 'generated an encryption key; keep a copy, without it stored credentials are lost')
  return key
}

/** Returns the file of the next key, which waits there until all data is sealed with it. */
function nextPathOf(path: string): string {
  return `${path}.next`
}

/** Reads the generated key and the next one, each undefined if there is none. */
export async function readKeyFiles(path: string, log: Log): Promise<{ key?: Uint8Array; next?: Uint8Array }> {
  const read = async (file: string) => {
    const stored = await readKeyFile(file, log)
    return stored && decodeKey(stored.trim(), file)
  }
  const [key, next] = [await read(path), await read(nextPathOf(path))]
  return { ...(key && { key }), ...(next && { next }) }
}

export async function writeNextKey(path: string, key: Uint8Array): Promise<void> {
  await writeKeyFile(nextPathOf(path), `${Buffer.from(key).toString('base64')}\n`)
}

/** Replaces the key with the next one. */
export async function takeNextKey(path: string): Promise<void> {
  await rename(nextPathOf(path), path)
  await syncFolder(dirname(path))
}

/** Returns true for a key in base64: decoding skips other characters, so encoding again checks all of it. */
export function isKey(text: string): boolean {
  const key = Buffer.from(text, 'base64')
  return key.length === keyLength && key.toString('base64') === text
}

/** Decodes a key. `where` names the setting or file in the error's message. */
export function decodeKey(text: string, where: string): Uint8Array {
  if (!isKey(text))
    throw invalid(
      where,
      `must be ${keyLength} bytes in base64, as made by: openssl rand -base64 ${keyLength}`,
    )
  return Buffer.from(text, 'base64')
}

function missingKey(): AppError {
  return new AppError(
    'INTERNAL_ERROR',
    'The encryption key is missing that this data was written with. Set ENCRYPTION_KEY to that key, or put back the ' +
      'file encryption.key in the data directory; processes that share a database need the same key.',
  )
}

async function readKeyFile(path: string, log: Log): Promise<string | undefined> {
  try {
    const { mode } = await stat(path)
    if ((mode & readableByOthers) !== 0)
      log.warn(
        { path },
        'other users of this machine can read the encryption key; run: chmod 600 on this file',
      )
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Writes the file elsewhere and renames it, so that it is whole or absent, also after a power cut. */
export async function writeKeyFile(path: string, content: string): Promise<void> {
  const draft = `${path}.new`
  const file = await open(draft, 'w', ownerOnly)
  try {
    await file.chmod(ownerOnly)
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  await syncFolder(dirname(path))
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
