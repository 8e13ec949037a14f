import type { Kysely, Selectable } from 'kysely'
import type { ListDefinition, ListParameters, Page } from '#platform/http/lists/list-query.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Profile } from '../browser.schema.ts'

type Database = Kysely<AgentTables>
type ProfileRow = Selectable<AgentTables['browser_profiles']>

const profileList: ListDefinition<Profile> = {
  sortable: {
    id: { column: 'name' },
    name: { column: 'name' },
    size: { column: 'size', numeric: true },
    created_at: { column: 'created_at' },
    updated_at: { column: 'updated_at' },
  },
  defaultSort: ['name'],
  defaultOrder: 'asc',
  searchable: ['name'],
  dateColumn: 'created_at',
  unique: { column: 'name' },
}

export function listProfiles(database: Database, query: ListParameters): Promise<Page<Profile>> {
  const profiles = database
    .selectFrom('browser_profiles')
    .select(['name', 'size', 'note', 'created_at', 'updated_at'])
  return listRows(profiles, profileList, query)
}

export function findProfile(database: Database, name: string): Promise<ProfileRow | undefined> {
  return database.selectFrom('browser_profiles').selectAll().where('name', '=', name).executeTakeFirst()
}

/** Inserts or replaces it. */
export async function saveProfile(
  database: Database,
  { created_at, name, ...row }: ProfileRow,
): Promise<void> {
  const insert = database.insertInto('browser_profiles').values({ name, created_at, ...row })
  await insert.onConflict(conflict => conflict.column('name').doUpdateSet(row)).execute()
}

export async function deleteProfile(database: Database, name: string): Promise<void> {
  await database.deleteFrom('browser_profiles').where('name', '=', name).execute()
}
