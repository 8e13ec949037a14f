import { openSearchDatabase } from '#storage/search-database.ts'
import type { SearchDatabase } from '#storage/search-engine.ts'

/**
 * A connection of the worker's own to an agent's database, for one piece of work. The storage may keep one for the next,
 * and then learns whether the agent was deleted or made anew.
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
