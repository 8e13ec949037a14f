import type { Kysely } from 'kysely'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { AgentStatus } from './agents.schema.ts'
import type { CredentialName, StoredSettings } from './settings.schema.ts'

interface SettingsWrite {
  settings: StoredSettings
  sealed: Record<string, string | null>
}

const selectProfile = prepareQuery((database: Kysely<PlatformTables>, value: ValueOf<'id'>) =>
  database
    .selectFrom('agents')
    .leftJoin('agent_credentials', 'agent_credentials.agent_id', 'agents.id')
    .select(({ ref }) => [
      'agents.name as agent_name',
      ref('agents.status').$castTo<AgentStatus>().as('status'),
      'agents.settings',
      ref('agent_credentials.name').$castTo<CredentialName | null>().as('name'),
      'agent_credentials.sealed',
    ])
    .where('agents.id', '=', value('id')),
)

/** Settings and sealed credentials of agents in the platform database. */
export function createSettingsRepository(database: Kysely<PlatformTables>) {
  return {
    /**
     * Changes the stored settings in one transaction, so that no concurrent change is lost. `compute` receives the stored
     * settings and returns the new ones, and for each changed credential its sealed value, or null. Returns undefined if there
     * is no such agent.
     */
    change(agentId: string, updated_at: string, compute: (stored: StoredSettings) => SettingsWrite) {
      return inTransaction(database, async transaction => {
        // The write comes first: it takes the row's lock before the settings are read.
        const row = await transaction
          .updateTable('agents')
          .set({ updated_at })
          .where('id', '=', agentId)
          .returning('settings')
          .executeTakeFirst()
        if (row === undefined) return undefined
        const { settings, sealed } = compute(JSON.parse(row.settings) as StoredSettings)
        const changes = { settings: JSON.stringify(settings) }
        await transaction.updateTable('agents').set(changes).where('id', '=', agentId).execute()
        for (const [name, value] of Object.entries(sealed)) {
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
        return settings
      })
    },

    /** Reads the data of the agent that answering needs, at once; undefined without such an agent. */
    async findProfile(agentId: string) {
      const rows = await selectProfile(database, { id: agentId })
      const [agent] = rows
      return (
        agent && {
          name: agent.agent_name,
          status: agent.status,
          settings: JSON.parse(agent.settings) as StoredSettings,
          credentials: rows.flatMap(({ name, sealed }) =>
            name === null || sealed === null ? [] : [{ name, sealed }],
          ),
        }
      )
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
