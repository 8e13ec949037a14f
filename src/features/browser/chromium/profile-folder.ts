import { chown, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeTemporaryFolder } from '#platform/temporary-folder.ts'
import { browserUser } from './browser-user.ts'

/** The path prefix of all browsers' folders. */
export const profileFolders = join(tmpdir(), 'agentstead-browser-')

/** Makes a folder for a browser's files that only the browser and this process can read. */
export async function makeProfileFolder(): Promise<string> {
  // The process id in the name helps people.
  const name = await makeTemporaryFolder(`${profileFolders}${process.pid}-`)
  await mkdir(join(name, 'downloads'))
  if (browserUser !== undefined)
    for (const path of [name, join(name, 'downloads')]) await chown(path, browserUser.uid, browserUser.gid)
  return name
}
