import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { currentChange } from '#platform/current-change.ts'
import type { SecretBox } from '#platform/encryption/secret-box.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { PlatformTables } from '../tables.ts'

/**
 * Secrets that belong to rows of an agent's own database. They are stored in sets that never change: new secrets go
 * into a new set, the row is updated to name it, and the old set is removed. So a crash in between leaves the row with
 * its previous secrets.
 */
export interface AgentSecrets {
  /** Returns the id of the new set; null without secrets, and then writes nothing. */
  write(agentId: string, secrets: Readonly<Record<string, string>>): Promise<string | null>
  /** Returns the secrets in clear text, which no response may contain. Empty for null. */
  read(agentId: string, setId: string | null): Promise<Record<string, string>>
  remove(agentId: string, setIds: readonly (string | null)[]): Promise<void>
}

export function createAgentSecrets(platform: Kysely<PlatformTables>, secretBox: SecretBox): AgentSecrets {
  return {
    async write(agentId, secrets) {
      const set_id = randomUUID()
      const rows = Object.entries(secrets).map(([name, secret]) => {
        const sealed = secretBox.seal(secret, agentSecretContext(agentId, set_id, name))
        return { agent_id: agentId, set_id, name, sealed }
      })
      if (rows.length === 0) return null
      // The change to record is that of the row which refers to the secrets.
      await currentChange.run(undefined, () =>
        inTransaction(platform, transaction =>
          transaction.insertInto('agent_secrets').values(rows).execute(),
        ),
      )
      return set_id
    },

    async read(agentId, setId) {
      if (setId === null) return {}
      const rows = await platform
        .selectFrom('agent_secrets')
        .select(['name', 'sealed'])
        .where('agent_id', '=', agentId)
        .where('set_id', '=', setId)
        .execute()
      return Object.fromEntries(
        rows.map(({ name, sealed }) => [
          name,
          secretBox.open(sealed, agentSecretContext(agentId, setId, name)),
        ]),
      )
    },

    async remove(agentId, setIds) {
      const known = setIds.filter(setId => setId !== null)
      if (known.length === 0) return
      await platform
        .deleteFrom('agent_secrets')
        .where('agent_id', '=', agentId)
        .where('set_id', 'in', known)
        .execute()
    },
  }
}

/** The context of a sealed secret: moved to another agent or set, or renamed, it does not open. */
export function agentSecretContext(agentId: string, setId: string, name: string): string[] {
  return ['agent secret', agentId, setId, name]
}
