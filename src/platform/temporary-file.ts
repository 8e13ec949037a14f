import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeTemporaryFolder, removeTemporaryFolder } from './temporary-folder.ts'

/** The prefix of the paths of all temporary files. */
export const temporaryFiles = join(tmpdir(), 'agentstead-file-')

/** Opens a file without a name, to write and read: it ends with its handle, and with the process. */
export async function openTemporaryFile(): Promise<FileHandle> {
  const folder = await makeTemporaryFolder(temporaryFiles)
  try {
    return await open(join(folder, 'content'), 'wx+', 0o600)
  } finally {
    await removeTemporaryFolder(folder)
  }
}
