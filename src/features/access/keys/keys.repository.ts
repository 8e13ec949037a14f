import type { Kysely, Selectable } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import { type ListParameters, listRows } from '#platform/http/lists/list-query.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import { keyTables } from '#storage/tables/keys.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { Role } from '../policy.ts'

type Database = Kysely<PlatformTables>
export type KeyRow = Selectable<PlatformTables['api_keys']>

/** The owner of keys: an agent, or the e-mail address of a person. */
export type KeyScope = { agentId: string } | { person: string }

/** A key, and its creator's role on the agent of the request: undefined where there is no such agent. */
export interface FoundKey {
  row: KeyRow
  creatorOn: { agentId: string; known: { role: Role | null } | undefined }
}

const keyList = listOf(keyTables.columns.api_keys, {
  sortable: ['id', 'name', 'role', 'creator', 'created_at', 'expires_at', 'last_used_at'],
  searchable: ['name', 'creator', 'hint'],
})

const selectKey = prepareQuery((database: Database, value: ValueOf<'hash' | 'agentId'>) =>
  database
    .selectFrom('api_keys')
    .leftJoin('agents', join => join.on('agents.id', '=', value('agentId')))
    .leftJoin('agent_admins', join =>
      join
        .onRef('agent_admins.agent_id', '=', 'agents.id')
        .onRef('agent_admins.email', '=', 'api_keys.creator'),
    )
    .selectAll('api_keys')
    .select(({ ref }) => [
      'agents.id as known_agent',
      ref('agent_admins.role').$castTo<Role | null>().as('creator_role'),
    ])
    .where(({ or, eb }) =>
      or([eb('api_keys.hash', '=', value('hash')), eb('api_keys.previous_hash', '=', value('hash'))]),
    ),
)

/** API keys in the platform database. */
export function createKeysRepository(database: Database) {
  const keysOf = (scope: KeyScope, from = database) => {
    const keys = from.selectFrom('api_keys').selectAll()
    return 'agentId' in scope
      ? keys.where('agent_id', '=', scope.agentId)
      : keys.where('agent_id', 'is', null).where('creator', '=', scope.person)
  }

  return {
    async findByHash(hash: string, agentId: string): Promise<FoundKey | undefined> {
      const [found] = await selectKey(database, { hash, agentId })
      if (found === undefined) return undefined
      const { known_agent, creator_role, ...row } = found
      return { row, creatorOn: { agentId, known: known_agent === null ? undefined : { role: creator_role } } }
    },

    findById: (id: string): Promise<KeyRow | undefined> =>
      database.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst(),

    list: (scope: KeyScope, parameters: ListParameters) => listRows(keysOf(scope), keyList, parameters),

    find: (scope: KeyScope, id: string): Promise<KeyRow | undefined> =>
      keysOf(scope).where('id', '=', id).executeTakeFirst(),

    /** Removes keys that were revoked before `forgottenAt`. Returns false, and inserts nothing, if `most` keys exist. */
    insert: (scope: KeyScope, row: KeyRow, { most, forgottenAt }: { most: number; forgottenAt: string }) =>
      inTransaction(database, async transaction => {
        const keys = await keysOf(scope, transaction).execute()
        const forgotten = keys.filter(({ revoked_at }) => revoked_at !== null && revoked_at < forgottenAt)
        if (keys.filter(({ revoked_at }) => revoked_at === null).length >= most) return false
        for (const { id } of forgotten)
          await transaction.deleteFrom('api_keys').where('id', '=', id).execute()
        await transaction.insertInto('api_keys').values(row).execute()
        return true
      }),

    /**
     * Returns undefined, and changes nothing, for a key that was revoked or rotated after it was read as `row`.
     * @param changesOf receives the current key.
     */
    change: (row: KeyRow, changesOf: (now: KeyRow) => Partial<KeyRow>): Promise<KeyRow | undefined> =>
      inTransaction(database, async transaction => {
        const keys = transaction.selectFrom('api_keys').selectAll().where('id', '=', row.id)
        const now = await keys.where('hash', '=', row.hash).where('revoked_at', 'is', null).executeTakeFirst()
        const changes = now && changesOf(now)
        if (changes === undefined || Object.keys(changes).length === 0) return now
        const update = transaction.updateTable('api_keys').set(changes).where('id', '=', row.id)
        return await update.returningAll().executeTakeFirst()
      }),

    /** @param before the last noted use: another process might have stored this one already */
    async noteUse(id: string, now: string, before: string): Promise<void> {
      await database
        .updateTable('api_keys')
        .set({ last_used_at: now })
        .where('id', '=', id)
        .where(({ or, eb }) => or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', before)]))
        .execute()
    },
  }
}

export type KeysRepository = ReturnType<typeof createKeysRepository>
