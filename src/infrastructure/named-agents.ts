import type { Kysely } from 'kysely'
import type { PlatformTables } from '#storage/tables.ts'

/**
 * Returns the ids of the agents that the operator names, by what was written: an id, or else a name in any letter case. What
 * finds no agent is left out. To be called once at the start, so that no agent that is named later takes the place of another.
 */
export async function findNamedAgents(
  platform: Kysely<PlatformTables>,
  written: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const keys = written.map(text => text.toLowerCase())
  const agents = await platform
    .selectFrom('agents')
    .select(['id', 'name_key'])
    .where(({ or, eb }) => or([eb('id', 'in', ['', ...written]), eb('name_key', 'in', ['', ...keys])]))
    .execute()
  const found = new Map(agents.map(({ id, name_key }) => [name_key, id]))
  for (const { id } of agents) found.set(id, id)
  return new Map(
    written.flatMap(text => {
      const id = found.get(text) ?? found.get(text.toLowerCase())
      return id === undefined ? [] : [[text, id]]
    }),
  )
}
