import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { OpenAgent } from '../engine.ts'

/**
 * Removes the files of no source: uploads that a dead predecessor was still receiving. Only where no other process, and
 * nobody in this one yet, receives any.
 */
export async function removeOrphans({ db, filesDirectory }: OpenAgent): Promise<void> {
  const names = await readdir(filesDirectory)
  if (names.length === 0) return
  const rows = await db.selectFrom('sources').select('file_path').execute()
  const known = new Set(rows.map(row => row.file_path))
  for (const name of names) if (!known.has(name)) await rm(join(filesDirectory, name), { recursive: true })
}
