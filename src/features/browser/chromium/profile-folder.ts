import { chown, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeTemporaryFolder } from '#platform/temporary-folder.ts'
import { browserUser } from './browser-user.ts'

/** The path that those of all browsers begin with. */
export const profileFolders = join(tmpdir(), 'agentstead-browser-')

/** A folder for all that one browser writes, and that only it and this process can read. */
export async function makeProfileFolder(): Promise<string> {
  // The id of the process is for people.
  const name = await makeTemporaryFolder(`${profileFolders}${process.pid}-`)
  await mkdir(join(name, 'downloads'))
  if (browserUser !== undefined)
    for (const path of [name, join(name, 'downloads')]) await chown(path, browserUser.uid, browserUser.gid)
  return name
}
