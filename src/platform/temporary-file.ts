import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeTemporaryFolder, removeTemporaryFolder } from './temporary-folder.ts'

/** The path that those of all temporary files begin with. */
export const temporaryFiles = join(tmpdir(), 'agentstead-file-')

/** A file without a name, to be written and read: it is gone when its handle is closed, and when the process dies. */
export async function openTemporaryFile(): Promise<FileHandle> {
  const folder = await makeTemporaryFolder(temporaryFiles)
  try {
    return await open(join(folder, 'content'), 'wx+', 0o600)
  } finally {
    await removeTemporaryFolder(folder)
  }
}
