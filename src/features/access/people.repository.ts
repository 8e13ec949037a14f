import type { Kysely } from 'kysely'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { Proof } from './caller.ts'

type Database = Kysely<PlatformTables>

const unproved = { proved_by: null, proved_at: null, first_proved_by: null, first_proved_at: null }

/** Ends all sessions and personal keys of the address. */
export function signOut(database: Database, email: string, at: string): Promise<unknown> {
  return inTransaction(database, async transaction => {
    await transaction.deleteFrom('sessions').where('email', '=', email).execute()
    const keys = transaction.updateTable('api_keys').set({ revoked_at: at }).where('creator', '=', email)
    await keys.where('agent_id', 'is', null).where('revoked_at', 'is', null).execute()
  })
}

/** People by their addresses, in the platform database. */
export function createPeopleRepository(database: Database) {
  return {
    find: (email: string) =>
      database
        .selectFrom('people')
        .select(['proved_by', 'first_proved_by'])
        .where('email', '=', email)
        .executeTakeFirst(),

    rolesOf: (...emails: string[]) =>
      database
        .selectFrom('agent_admins')
        .select(['agent_id', 'email', 'role', 'by_groups'])
        .where('email', 'in', emails)
        .execute(),

    noteInvited: (email: string, invited_by: string) =>
      database
        .insertInto('people')
        .values({ email, invited_by, ...unproved })
        .onConflict(conflict => conflict.column('email').doUpdateSet({ invited_by }))
        .execute(),

    /** Ends the address's sessions without a proof: another person might have begun them. Returns whether any existed. */
    noteProof: (email: string, proof: Proof, at: string) =>
      inTransaction(database, async transaction => {
        const last = { proved_by: proof, proved_at: at }
        await transaction
          .insertInto('people')
          .values({ email, invited_by: null, ...last, first_proved_by: proof, first_proved_at: at })
          .onConflict(conflict =>
            conflict.column('email').doUpdateSet(({ fn, ref, val }) => ({
              ...last,
              // The operator's proof counts for ever, whichever follows.
              first_proved_by:
                proof === 'operator' ? proof : fn.coalesce(ref('people.first_proved_by'), val(proof)),
              first_proved_at: fn.coalesce(ref('people.first_proved_at'), val(at)),
            })),
          )
          .execute()
        const sessions = transaction.deleteFrom('sessions').where('email', '=', email)
        return (await sessions.where('proved_by', 'is', null).returning('id').execute()).length > 0
      }),
  }
}
