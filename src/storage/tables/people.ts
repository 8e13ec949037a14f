import type { Kysely } from 'kysely'
import { partOf, text, textOrNull } from '#platform/columns.ts'
import { firstSignInFact } from './facts.ts'
import { declarePlatformTables } from './table-set.ts'

/** The tables of before that the migration reads. */
interface Former {
  sessions: { email: string }
  identities: { email: string }
  platform_facts: { name: string; value: string }
}

/** The people behind e-mail addresses, and the bounds of sign-ins that prove no address. */
export const peopleTables = declarePlatformTables(
  {
    people: {
      columns: {
        /** In one case. */
        email: text,
        /** The last proof of the address, such as `mail`; null without one. */
        proved_by: textOrNull,
        proved_at: textOrNull,
        first_proved_by: textOrNull,
        first_proved_at: textOrNull,
        /** The sender of the last invitation that the person accepted. */
        invited_by: textOrNull,
      },
      key: ['email'],
    },
    /** The only agents of a session without a proof. A role that is removed takes its row along. */
    session_agents: {
      columns: { session_id: partOf('sessions'), entry_id: partOf('agent_admins'), role: text },
      key: ['session_id', 'entry_id'],
      indexes: { entry: ['entry_id'] },
      instead: 'people sign in again',
    },
  },
  {
    /** Former sessions end, since nothing says how their addresses were proved. They and accounts prove a first sign-in. */
    async create(db) {
      const former = db as Kysely<Former>
      const accounts = former.selectFrom('identities').select('email')
      const signedIn = await former
        .selectFrom('sessions')
        .select('email')
        .unionAll(accounts)
        .limit(1)
        .execute()
      await former.deleteFrom('sessions').execute()
      if (signedIn.length === 0) return
      const fact = { name: firstSignInFact, value: new Date().toISOString() }
      await former.insertInto('platform_facts').values(fact).execute()
    },
  },
)
