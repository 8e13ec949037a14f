import { bigint, partOf, text, textOrNull } from '#platform/columns.ts'
import { declarePlatformTables } from './table-set.ts'

/** What agents use of models: out of reach of their SQL, and together for keys that reach several agents. */
export const usageTables = declarePlatformTables({
  /** What an author used of a model on a day (UTC). Tokens are as reported, or estimated where a service reported none. */
  usage: {
    columns: {
      agent_id: partOf('agents'),
      day: text,
      /** As `key:<id>`, `person:<e-mail address>`, `schedule:<id>`, `anonymous`. */
      author: text,
      /** E-mail address, also of who has the key; empty for none. */
      person: text,
      model: text,
      turns: bigint,
      calls: bigint,
      input_tokens: bigint,
      /** Of the input. */
      cached_tokens: bigint,
      output_tokens: bigint,
      estimated_tokens: bigint,
      /** Billionths of a US dollar. */
      cost: bigint,
      /** Those without a known price. */
      unpriced_calls: bigint,
    },
    agent: 'agent_id',
    key: ['agent_id', 'day', 'author', 'model'],
    indexes: { author: ['author', 'day'] },
  },
  /** What is spent of a budget in a month, and what calls under way may spend. */
  budgets: {
    columns: {
      /** `agent:<id>`, `key:<id>`, `person:<agent id>:<e-mail address>`. */
      scope: text,
      /** As 2026-11. */
      month: text,
      agent_id: { ...textOrNull, parent: 'agents' },
      spent_tokens: bigint,
      spent_cost: bigint,
      /** The span of time of the last reservation; see `budgets.repository.ts`. */
      slot: bigint,
      reserved_tokens: bigint,
      reserved_cost: bigint,
      /** Reserved in the slot before. */
      former_tokens: bigint,
      former_cost: bigint,
    },
    key: ['scope', 'month'],
    instead: 'counted again from the usage',
  },
})
