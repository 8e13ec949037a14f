import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'

const suffix = '.lock'
/** SQLite's code for a lock that another process has. */
const busy = 5
/** Locks by folder, of those that this process has made and not removed. */
const locks = new Map<string, DatabaseSync>()

/**
 * Makes a folder that only this user can enter, named by the prefix, a path, and more. If this process dies,
 * `removeAbandonedFolders` removes it: a lock beside it, out of its users' reach, is held by the process.
 */
export async function makeTemporaryFolder(prefix: string): Promise<string> {
  const path = `${prefix}${randomUUID()}`
  const lock = await lockOf(path)
  if (lock === undefined) return await makeTemporaryFolder(prefix)
  locks.set(path, lock)
  await mkdir(path, { mode: 0o700 })
  return path
}

/** Removes a folder, even if something still writes into it. Never rejects. */
export async function removeTemporaryFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }).catch(() => {})
  locks.get(path)?.close()
  locks.delete(path)
  await rm(`${path}${suffix}`, { force: true }).catch(() => {})
}

/** Removes the folders with this prefix whose processes have died. Never rejects. */
export async function removeAbandonedFolders(prefix: string): Promise<void> {
  const names = await readdir(dirname(prefix)).catch(() => [])
  const found = names.filter(name => name.startsWith(basename(prefix)) && name.endsWith(suffix))
  for (const name of found) {
    const path = join(dirname(prefix), name.slice(0, -suffix.length))
    if (locks.has(path) || !(await isOwn(`${path}${suffix}`))) continue
    const lock = await lockOf(path).catch(() => undefined)
    if (lock === undefined) continue
    locks.set(path, lock)
    await removeTemporaryFolder(path)
  }
}

/** Returns true for an own file: another user could have put a link there. */
async function isOwn(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  return found?.isFile() === true && found.uid === process.getuid?.()
}

/**
 * Returns undefined while another process has the lock. An open exclusive transaction is a lock of the
 * operating system, which releases it at any end of the process; process ids are reused, or those of
 * containers.
 */
async function lockOf(path: string): Promise<DatabaseSync | undefined> {
  const { DatabaseSync } = await import('node:sqlite')
  const lock = new DatabaseSync(`${path}${suffix}`)
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return undefined
    throw error
  }
}
