import { bigintOrNull, integerOrNull, partOf, since, text, textOrNull } from '#platform/columns.ts'
import { declarePlatformTables } from './table-set.ts'

/** Roles of people. */
export const accessTables = declarePlatformTables({
  agent_admins: {
    columns: {
      id: text,
      agent_id: partOf('agents'),
      /** Lower case. */
      email: text,
      role: text,
      created_at: text,
      /** The agent's creation time, for an index in this order; it never changes. */
      agent_created_at: textOrNull,
      /** 1 if the role comes from the person's groups at the identity provider, and is removed with them. */
      by_groups: since('0027-sign-in', integerOrNull),
      /** The person's monthly budget on the agent; dollars as a decimal. */
      monthly_tokens: since('0036-usage', bigintOrNull),
      monthly_usd: since('0036-usage', textOrNull),
    },
    agent: 'agent_id',
    indexes: {
      agent_email: { on: ['agent_id', 'email'], isUnique: true },
      // The order of a user's agents in lists, so that a page costs the same of any number.
      email_agents: ['email', 'agent_created_at', 'agent_id'],
    },
  },
})
