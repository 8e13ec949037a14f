import { integer, since, text, textOrNull, unique } from '#platform/columns.ts'
import { declarePlatformTables } from './table-set.ts'

/** The sign-ins of people. Tokens are stored by their SHA-256 alone, addresses in one case. */
export const signInTables = declarePlatformTables({
  sessions: {
    columns: {
      id: text,
      token_hash: unique(text),
      email: text,
      name: textOrNull,
      user_agent: textOrNull,
      created_at: text,
      last_used_at: text,
      expires_at: text,
      /** How its address was proved; null if it came by a link that its inviter saw: `session_agents` bounds it. */
      proved_by: since('0044-people', textOrNull),
    },
    indexes: { email: ['email'] },
    instead: 'people sign in again',
  },
  /** Accounts of people at the identity provider. */
  identities: {
    columns: { issuer: text, subject: text, email: text, created_at: text },
    key: ['issuer', 'subject'],
    together: { person: ['issuer', 'email'] },
  },
  sign_in_links: {
    columns: { token_hash: text, email: text, expires_at: text },
    key: ['token_hash'],
    instead: 'links are valid for minutes',
  },
  invitations: {
    columns: {
      id: text,
      token_hash: unique(text),
      email: text,
      invited_by: text,
      /** JSON: the agents, each with the role on it. */
      agents: text,
      /** 1 if only the owner of the address has seen the link. */
      is_mailed: integer,
      created_at: text,
      expires_at: text,
    },
    indexes: { email: ['email'] },
    instead: 'people are invited again',
  },
})
