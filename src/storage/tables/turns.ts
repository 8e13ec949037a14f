import {
  integer,
  integerOrNull,
  partOf,
  sequence,
  since,
  text,
  textOrNull,
  unique,
} from '#platform/columns.ts'
import { declareAgentTables, hidden } from './table-set.ts'

/** Turns that go on without the request that began them. */
export const turnTables = declareAgentTables({
  turns: {
    sql: hidden,
    columns: {
      /** Order of arrival. */
      sequence,
      /** Id of the turn and of its answer. */
      id: unique(text),
      conversation_id: partOf('conversations'),
      /** Identity of the caller who began it. */
      started_by: text,
      /** The caller's own id of the message; null without one. */
      client_message_id: textOrNull,
      status: text,
      /** JSON of the message and the options. */
      question: text,
      /** Token of the conversation's lock; null until it has begun. */
      lock_token: integerOrNull,
      /** Number of runs: writes of an earlier run no longer count. */
      run: integer,
      /** JSON of the state to continue from; null until there is one. */
      state: textOrNull,
      /** JSON of its current or last wait; null if it never waited. */
      waiting: since('0038-waiting-turns', textOrNull),
      created_at: text,
      started_at: textOrNull,
      ended_at: textOrNull,
    },
    key: ['sequence'],
    together: { client_message: ['started_by', 'client_message_id'] },
    indexes: { conversation: ['conversation_id', 'sequence'], ended: ['ended_at'] },
  },
  /** The events for readers of turns, in batches. */
  turn_events: {
    sql: hidden,
    columns: {
      turn_id: partOf('turns'),
      /** Number of the last event of the batch. */
      last: integer,
      /** A line of JSON for each event. */
      events: text,
    },
    key: ['turn_id', 'last'],
  },
})
