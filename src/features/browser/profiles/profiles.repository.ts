import type { Kysely, Selectable } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import { type ListParameters, listRows, type Page } from '#platform/http/lists/list-query.ts'
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

/** Inserts the profile, or replaces the one with these secrets; false if it has changed meanwhile. */
export async function replaceProfile(
  database: Database,
  { created_at, name, ...row }: ProfileRow,
  before: ProfileRow | undefined,
): Promise<boolean> {
  if (before === undefined) {
    const insert = database.insertInto('browser_profiles').values({ name, created_at, ...row })
    const inserted = await insert.onConflict(conflict => conflict.doNothing()).executeTakeFirst()
    return inserted.numInsertedOrUpdatedRows === 1n
  }
  const update = database.updateTable('browser_profiles').set(row).where('name', '=', name)
  const { numUpdatedRows } = await update
    .where('secret_set', before.secret_set === null ? 'is' : '=', before.secret_set)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function deleteProfile(database: Database, name: string): Promise<void> {
  await database.deleteFrom('browser_profiles').where('name', '=', name).execute()
}
