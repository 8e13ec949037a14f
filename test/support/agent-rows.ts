import type { Kysely } from 'kysely'
import type { PlatformTables } from '#storage/tables.ts'

/** Makes and unmakes agents without the feature that does so in the service. */
export function agentRows(platform: Kysely<PlatformTables>) {
  return {
    async addAgent(id: string): Promise<void> {
      const time = '2026-01-01T00:00:00.000Z'
      const row = { id, name: id, name_key: id, description: '', status: 'active', settings: '{}' }
      await platform
        .insertInto('agents')
        .values({ ...row, created_at: time, updated_at: time })
        .onConflict(conflict => conflict.doNothing())
        .execute()
    },
    async removeAgentRow(id: string): Promise<void> {
      await platform.deleteFrom('agents').where('id', '=', id).execute()
    },
  }
}
