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
      /** That of the agent, for an index in this order; it never changes. */
      agent_created_at: textOrNull,
      /** 1 if it comes from the person's groups at the identity provider, and goes with them. */
      by_groups: since('0027-sign-in', integerOrNull),
      /** What the person may spend on the agent in a month; dollars as a decimal. */
      monthly_tokens: since('0036-usage', bigintOrNull),
      monthly_usd: since('0036-usage', textOrNull),
    },
    agent: 'agent_id',
    indexes: {
      agent_email: { on: ['agent_id', 'email'], isUnique: true },
      // In the order in which a user's agents are listed, so that a page costs the same of any number.
      email_agents: ['email', 'agent_created_at', 'agent_id'],
    },
  },
})
