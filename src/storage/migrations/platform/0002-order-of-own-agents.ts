import type { Migration } from 'kysely/migration'
import type { SchemaParts } from '../../engine.ts'

/** Puts the agents of a user in an index in the order in which they are listed, so that a page costs the same of any number. */
export function orderOfOwnAgents(parts: SchemaParts): Migration {
  return {
    async up(db) {
      await db.schema.alterTable('agent_admins').addColumn('agent_created_at', parts.textType).execute()
      await db
        .updateTable('agent_admins')
        .set(({ selectFrom }) => ({
          agent_created_at: selectFrom('agents')
            .select('agents.created_at')
            .whereRef('agents.id', '=', 'agent_admins.agent_id'),
        }))
        .execute()
      // It also serves what asks for the e-mail address alone.
      await db.schema.dropIndex('agent_admins_email').execute()
      await db.schema
        .createIndex('agent_admins_email_agents')
        .on('agent_admins')
        .columns(['email', 'agent_created_at', 'agent_id'])
        .execute()
    },
  }
}
