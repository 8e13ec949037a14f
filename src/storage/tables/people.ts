import type { Kysely } from 'kysely'
import { partOf, text, textOrNull } from '#platform/columns.ts'
import { declarePlatformTables } from './table-set.ts'

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
    /** Former sessions end, since nothing says how their addresses were proved. */
    create: async db => void (await (db as Kysely<{ sessions: object }>).deleteFrom('sessions').execute()),
  },
)
