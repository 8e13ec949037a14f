import { readFile } from 'node:fs/promises'
import { AppError } from '#platform/errors.ts'
import { openSearchDatabase } from '../search/search-database.ts'
import { readObject } from './bucket.ts'
import { fileParts } from './database.ts'
import type { FileLocation } from './file-store.ts'

/**
 * Reads a whole file, in any thread.
 * @throws AppError `NOT_FOUND` if it does not exist, `INTERNAL_ERROR` when the bucket fails.
 */
export async function readStoredFile(location: FileLocation): Promise<Uint8Array> {
  const bytes = await read(location)
  if (bytes === undefined) throw new AppError('NOT_FOUND', 'The file of this source is missing.')
  return bytes
}

function read(location: FileLocation): Promise<Uint8Array | undefined> {
  switch (location.kind) {
    case 'directory':
      return readFile(location.path).catch(unlessMissing)
    case 'database':
      return readFromDatabase(location.database, location.name)
    case 'bucket':
      return readObject(location.settings, location.key)
  }
}

async function readFromDatabase(path: string, name: string): Promise<Uint8Array | undefined> {
  const { db } = await openSearchDatabase(path, { readOnly: true })
  try {
    const parts = await Array.fromAsync(fileParts(db, name))
    return parts.length === 0 ? undefined : Buffer.concat(parts)
  } finally {
    await db.destroy()
  }
}

export function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
