import { openSearchDatabase } from '#storage/search/search-database.ts'
import type { SearchDatabase } from '#storage/search/search-engine.ts'

/**
 * Opens a worker's own connection to an agent's database, for one piece of work. The storage can keep it open
 * for the next one, and then notices if the agent was deleted or recreated.
 */
export async function withAgentDatabase<Result>(
  path: string,
  options: { readOnly: boolean },
  work: (database: SearchDatabase) => Promise<Result>,
): Promise<Result> {
  const database = await openSearchDatabase(path, options)
  try {
    return await work(database)
  } finally {
    await database.db.destroy()
  }
}
