import type { Kysely, Selectable } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import type { ListParameters, Page } from '#platform/http/lists/list-query.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import { browserTables } from '#storage/tables/browser.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Profile } from '../sessions/sessions.schema.ts'

type Database = Kysely<AgentTables>
type ProfileRow = Selectable<AgentTables['browser_profiles']>

const profileList = listOf(browserTables.columns.browser_profiles, {
  sortable: { id: 'name', name: 'name', size: 'size', created_at: 'created_at', updated_at: 'updated_at' },
  searchable: ['name'],
  by: ['name'],
  order: 'asc',
  unique: 'name',
})

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
