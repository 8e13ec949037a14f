import type { Checkpointer } from '#storage/sqlite/connections/checkpoints.ts'
import { openDataDirectory } from '#storage/sqlite/connections/data-directory.ts'
import { createEngine } from '#storage/sqlite/engine.ts'
import { type DatabaseOptions, databasesOn } from './databases-on.ts'
import { temporaryDirectory } from './temporary-directory.ts'

interface Options extends DatabaseOptions {
  /** An existing data directory; a temporary one by default. */
  path?: string
  checkpointerOf?(path: string): Checkpointer
}

/** Platform and agent databases in real files, closed in the end. */
export async function openEmbeddedStorage(allOptions: Options = {}) {
  const { path = temporaryDirectory(allOptions.onEnd), checkpointerOf, ...options } = allOptions
  const directory = await openDataDirectory(path)
  const engine = createEngine({ directory, synchronous: 'normal', ...(checkpointerOf && { checkpointerOf }) })
  return { path, ...(await databasesOn(engine, options)) }
}
