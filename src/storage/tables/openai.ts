import { bigint, text } from '#platform/columns.ts'
import { declareAgentTables, hidden } from './table-set.ts'

/** The hidden parts of conversations by OpenAI's API, which no caller may read by SQL. */
export const openAiTables = declareAgentTables({
  openai_trails: {
    sql: hidden,
    /** The first of the calls behind it, the identity of the caller, JSON of messages of a prompt, and milliseconds. */
    columns: { call_id: text, caller: text, messages: text, expires_at: bigint },
    key: ['call_id'],
    instead: 'kept for an hour',
  },
})
