import type { Kysely } from 'kysely'
import type { GivenRoles, Proof, Role } from '#features/access/access.feature.ts'
import { describeChange } from '#platform/current-change.ts'
import { listOf } from '#platform/http/lists/list-of.ts'
import { type ListParameters, listRows } from '#platform/http/lists/list-query.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import { signInTables } from '#storage/tables/sign-in.ts'
import type { PlatformTables } from '#storage/tables.ts'

type Database = Kysely<PlatformTables>
/** Agents by their ids, each with the role of an invitation. */
export type InvitedTo = GivenRoles

const shownSession = ['id', 'user_agent', 'created_at', 'last_used_at', 'expires_at'] as const
const sessionList = listOf(signInTables.columns.sessions, {
  sortable: shownSession,
  searchable: ['user_agent'],
})
const shown = ['id', 'email', 'agents', 'invited_by', 'created_at', 'expires_at'] as const
const sortable = shown.filter(name => name !== 'agents')
const invitationList = listOf(signInTables.columns.invitations, { sortable, searchable: ['email'] })

const selectSession = prepareQuery((database: Database, value: ValueOf<'tokenHash' | 'now'>) =>
  database
    .selectFrom('sessions')
    .leftJoin('session_agents', 'session_agents.session_id', 'sessions.id')
    .leftJoin('agent_admins', 'agent_admins.id', 'session_agents.entry_id')
    .select(['sessions.id', 'sessions.email', 'sessions.name', 'sessions.created_at', 'last_used_at'])
    .select(({ ref }) => [
      ref('proved_by').$castTo<Proof | null>().as('proved_by'),
      'agent_id',
      ref('session_agents.role').$castTo<Role | null>().as('role'),
    ])
    .where('token_hash', '=', value('tokenHash'))
    .where('expires_at', '>', value('now')),
)

export function createSignInRepository(database: Database) {
  return Object.assign(sessionsAndAccounts(database), invitations(database))
}

function sessionsAndAccounts(database: Database) {
  /** Runs the work in a transaction, together with its row of the audit log. */
  const change = <Result>(work: (transaction: Database) => Promise<Result>) =>
    inTransaction(database, work, 'read committed')

  return {
    async findSession(tokenHash: string, now: string) {
      const rows = await selectSession(database, { tokenHash, now })
      const invitedTo = rows.flatMap(({ agent_id: id, role }) =>
        id === null || role === null ? [] : [{ id, role }],
      )
      return rows[0] && { ...rows[0], invitedTo }
    },

    insertSession: (session: PlatformTables['sessions'], invitedTo: InvitedTo = []) =>
      change(async transaction => {
        await transaction.deleteFrom('sessions').where('expires_at', '<=', session.created_at).execute()
        await transaction.insertInto('sessions').values(session).execute()
        await bind(transaction, session.id, session.email, invitedTo)
      }),

    /** Adds agents, or higher roles on them, to a session without a proof. */
    extendSession: (id: string, email: string, invitedTo: InvitedTo) =>
      change(transaction => bind(transaction, id, email, invitedTo)),

    useSession: (id: string, times: { last_used_at: string; expires_at: string }) =>
      database.updateTable('sessions').set(times).where('id', '=', id).execute(),

    listSessions(email: string, now: string, query: ListParameters) {
      const own = database.selectFrom('sessions').select(shownSession).where('email', '=', email)
      return listRows(own.where('expires_at', '>', now), sessionList, query)
    },

    /** Deletes one session of the person, or all of them. */
    deleteSessions: (email: string, id?: string) =>
      change(transaction => {
        const own = transaction.deleteFrom('sessions').where('email', '=', email).returning('id')
        return (id === undefined ? own : own.where('id', '=', id)).execute()
      }),

    /** Returns whether there are no roles and no sessions. */
    async isEmpty(): Promise<boolean> {
      const roles = database.selectFrom('agent_admins').select('id')
      return (await roles.union(database.selectFrom('sessions').select('id')).limit(1).execute()).length === 0
    },

    /** Finds the accounts of an issuer that have the subject or the address. */
    findIdentities: (issuer: string, subject: string, email: string) =>
      database
        .selectFrom('identities')
        .select(['subject', 'email'])
        .where('issuer', '=', issuer)
        .where(({ or, eb }) => or([eb('subject', '=', subject), eb('email', '=', email)]))
        .execute(),

    /** Binds nothing if the subject, or the address, has been bound meanwhile. */
    bindIdentity: (identity: PlatformTables['identities']) =>
      database
        .insertInto('identities')
        .values(identity)
        .onConflict(conflict => conflict.doNothing())
        .returning('email')
        .executeTakeFirst(),

    forgetIdentity: (email: string) => database.deleteFrom('identities').where('email', '=', email).execute(),
  }
}

/** Binds a session to entries of the person on agents. */
async function bind(
  database: Database,
  session_id: string,
  email: string,
  invitedTo: InvitedTo,
): Promise<void> {
  for (const { id, role } of invitedTo) {
    const entry = database.selectFrom('agent_admins').select('id').where('agent_id', '=', id)
    const found = await entry.where('email', '=', email).executeTakeFirst()
    if (found === undefined) continue
    await database
      .insertInto('session_agents')
      .values({ session_id, entry_id: found.id, role })
      .onConflict(conflict => conflict.columns(['session_id', 'entry_id']).doUpdateSet({ role }))
      .execute()
  }
}

function invitations(database: Database) {
  return {
    /** Replaces the open invitation by the same inviter. */
    insertInvitation: (invitation: PlatformTables['invitations']) =>
      inTransaction(database, async transaction => {
        const { email, invited_by } = invitation
        const former = transaction.deleteFrom('invitations').where('email', '=', email)
        await former.where('invited_by', '=', invited_by).execute()
        await transaction.deleteFrom('invitations').where('expires_at', '<=', invitation.created_at).execute()
        await transaction.insertInto('invitations').values(invitation).execute()
      }),

    markMailed: (id: string) =>
      database.updateTable('invitations').set({ is_mailed: 1 }).where('id', '=', id).execute(),

    listInvitations(inviter: string, now: string, query: ListParameters) {
      const own = database.selectFrom('invitations').select(shown).where('invited_by', '=', inviter)
      return listRows(own.where('expires_at', '>', now), invitationList, query)
    },

    findInvitation: (tokenHash: string, now: string) =>
      database
        .selectFrom('invitations')
        .select(['id', 'email', 'is_mailed'])
        .where('token_hash', '=', tokenHash)
        .where('expires_at', '>', now)
        .executeTakeFirst(),

    /** Deletes the person's invitations and returns them, so that only one caller gets them. */
    takeInvitations(email: string, now: string, id?: string) {
      const own = database.deleteFrom('invitations').where('email', '=', email).where('expires_at', '>', now)
      return (id === undefined ? own : own.where('id', '=', id)).returning(['agents', 'invited_by']).execute()
    },

    /** Returns true if the inviter had made the invitation, and it was still open. */
    withdrawInvitation: (inviter: string, now: string, id: string) =>
      inTransaction(database, async transaction => {
        const own = transaction
          .deleteFrom('invitations')
          .where('invited_by', '=', inviter)
          .where('id', '=', id)
        const withdrawn = await own
          .where('expires_at', '>', now)
          .returning(['email', 'agents'])
          .executeTakeFirst()
        if (withdrawn === undefined) return false
        for (const agent of JSON.parse(withdrawn.agents))
          describeChange({ email: withdrawn.email, role: agent.role }, agent.id)
        return true
      }),
  }
}

export type SignInRepository = ReturnType<typeof createSignInRepository>
