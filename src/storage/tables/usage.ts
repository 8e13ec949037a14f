import { bigint, type Columns, partOf, since, text, textOrNull, withDefault } from '#platform/columns.ts'
import { declarePlatformTables } from './table-set.ts'

/** The use of models: out of reach of agents' SQL, and together for keys of several agents. */
export const usageTables = declarePlatformTables({
  /** An author's use of a model on a day (UTC). Tokens are as reported, or estimated if unreported. */
  usage: {
    columns: {
      agent_id: partOf('agents'),
      day: text,
      /** The author: `key:<id>`, `person:<e-mail address>`, `schedule:<id>`, `anonymous`. */
      author: text,
      /** E-mail address, also of a key's person; empty for none. */
      person: text,
      model: text,
      turns: bigint,
      calls: bigint,
      input_tokens: bigint,
      /** Part of the input tokens. */
      cached_tokens: bigint,
      output_tokens: bigint,
      estimated_tokens: bigint,
      /** Billionths of a US dollar. */
      cost: bigint,
      /** Calls without a known price. */
      unpriced_calls: bigint,
      /** The part of all tokens, and of the cost, that is paid by the platform's own credentials. */
      platform_tokens: since('0047-platform-usage', withDefault(bigint, 0)),
      platform_cost: since('0047-platform-usage', withDefault(bigint, 0)),
    },
    agent: 'agent_id',
    key: ['agent_id', 'day', 'author', 'model'],
    indexes: { author: ['author', 'day'] },
  },
  /** The spent part of a budget in a month, and reservations for pending calls. */
  budgets: {
    columns: {
      /** `agent:<id>`, `key:<id>`, `person:<agent id>:<e-mail address>`, `person:*:<e-mail address>`, `platform`. */
      scope: text,
      /** Month such as 2026-11. */
      month: text,
      agent_id: { ...textOrNull, parent: 'agents' },
      spent_tokens: bigint,
      spent_cost: bigint,
      /** The span of time of the last reservation; see `budgets.repository.ts`. */
      slot: bigint,
      reserved_tokens: bigint,
      reserved_cost: bigint,
      /** Tokens reserved in the slot before. */
      former_tokens: bigint,
      former_cost: bigint,
    },
    key: ['scope', 'month'],
    instead: 'counted again from the usage',
  },
})

/** Finds the usage of a month, of all agents, to count it again. */
export const usageIndexes = declarePlatformTables<Record<never, Columns>>(
  {},
  {
    async create({ schema }) {
      await schema.createIndex('usage_day').on('usage').column('day').execute()
      await schema.createIndex('usage_person').on('usage').columns(['person', 'day']).execute()
    },
  },
)
