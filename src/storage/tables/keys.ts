import { bigintOrNull, integerOrNull, since, text, textOrNull, unique } from '#platform/columns.ts'
import { declarePlatformTables } from './table-set.ts'

/** API keys: of agents, and of people where there is no agent. */
export const keyTables = declarePlatformTables({
  api_keys: {
    columns: {
      id: text,
      agent_id: { ...textOrNull, parent: 'agents' },
      /** E-mail address, in lower case, of the person who has the key from the service. */
      creator: text,
      name: text,
      /** The max role; null for a personal key with all roles of its person. */
      role: textOrNull,
      /** The agents that a personal key reaches, as JSON; null for all. */
      agents: textOrNull,
      rate_per_minute: integerOrNull,
      /** SHA-256 in hexadecimal. */
      hash: unique(text),
      /** The last characters of the key. */
      hint: text,
      /** Hash of the key before the last rotation, valid until `previous_until`. */
      previous_hash: unique(textOrNull),
      previous_until: textOrNull,
      created_at: text,
      expires_at: textOrNull,
      last_used_at: textOrNull,
      revoked_at: textOrNull,
      /** The key's monthly budget; dollars as a decimal. */
      monthly_tokens: since('0036-usage', bigintOrNull),
      monthly_usd: since('0036-usage', textOrNull),
    },
    agent: 'agent_id',
    indexes: { agent: ['agent_id'], creator: ['creator'] },
  },
})
