import type { FileHandle } from 'node:fs/promises'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file without a name, to be written and read: it is gone when its handle is closed, and when the process dies. */
export async function openTemporaryFile(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'agentstead-'))
  try {
    return await open(join(folder, 'content'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true })
  }
}
