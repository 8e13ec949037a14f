import type { Kysely } from 'kysely'
import type { PlatformTables } from '#storage/tables.ts'
import type { CredentialName, StoredSettings } from './settings.schema.ts'

/** Settings and sealed credentials of agents in the platform database. */
export function createSettingsRepository(database: Kysely<PlatformTables>) {
  return {
    /** The stored settings; undefined if there is no such agent. */
    async find(agentId: string): Promise<StoredSettings | undefined> {
      const row = await database
        .selectFrom('agents')
        .select('settings')
        .where('id', '=', agentId)
        .executeTakeFirst()
      return row === undefined ? undefined : (JSON.parse(row.settings) as StoredSettings)
    },

    /** Stores the settings, and for each credential its sealed value or, for null, its removal. */
    async save(
      agentId: string,
      settings: StoredSettings,
      sealed: Map<string, string | null>,
      updated_at: string,
    ) {
      await database.transaction().execute(async transaction => {
        const changes = { settings: JSON.stringify(settings), updated_at }
        await transaction.updateTable('agents').set(changes).where('id', '=', agentId).execute()
        for (const [name, value] of sealed) {
          const entry = { agent_id: agentId, name }
          await transaction
            .deleteFrom('agent_credentials')
            .where(({ and }) => and(entry))
            .execute()
          if (value === null) continue
          await transaction
            .insertInto('agent_credentials')
            .values({ ...entry, sealed: value })
            .execute()
        }
      })
    },

    async listCredentials(agentId: string): Promise<{ name: CredentialName; sealed: string }[]> {
      return database
        .selectFrom('agent_credentials')
        .select(({ ref }) => [ref('name').$castTo<CredentialName>().as('name'), 'sealed'])
        .where('agent_id', '=', agentId)
        .orderBy('name')
        .execute()
    },
  }
}

export type SettingsRepository = ReturnType<typeof createSettingsRepository>
