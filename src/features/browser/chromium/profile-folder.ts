import { chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { browserUser } from './browser-user.ts'

/** Before the id of the process that made the folder. */
const prefix = 'agentstead-browser-'

/** Those of browsers that this process has started. */
const own = new Set<string>()

/** A folder for all that one browser writes, and that only it and this process can read. */
export async function makeProfileFolder(): Promise<string> {
  const name = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`))
  own.add(name)
  await mkdir(join(name, 'downloads'))
  if (browserUser !== undefined)
    for (const path of [name, join(name, 'downloads')]) await chown(path, browserUser.uid, browserUser.gid)
  return name
}

/** Once its browser has ended: the last of its processes may still be writing. */
export async function removeProfileFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }).catch(() => {})
  own.delete(folder)
}

/** Removes the folders that killed processes have left. Never rejects. */
export async function removeOldProfileFolders(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => [])
  const left = names.filter(name => name.startsWith(prefix) && !isInUse(name))
  for (const name of left) await removeProfileFolder(join(tmpdir(), name))
}

function isInUse(name: string): boolean {
  const pid = Number(/^\d+/.exec(name.slice(prefix.length))?.[0])
  // A process that was started again in a container has the id of the one before it.
  if (pid === process.pid) return own.has(join(tmpdir(), name))
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
