import { bytes, integer, lease, since, text, textOrNull } from '#platform/columns.ts'
import { declareAgentTables, hidden, readable } from './table-set.ts'

/** Browser sessions, including ended ones, and the logins that are saved between them. */
export const browserTables = declareAgentTables({
  browser_sessions: {
    sql: readable,
    columns: {
      id: text,
      status: text,
      /** 0 if it has a window on the operator's display. */
      headless: integer,
      /** CSS pixels. */
      viewport_width: integer,
      viewport_height: integer,
      user_agent: text,
      /** The profile that the session began with and saves; null without one. */
      profile: textOrNull,
      /** The process that runs the session's browser and renews the lease while it is open. */
      instance_id: text,
      lease_until: lease,
      created_at: text,
      last_activity: text,
      /** The address of that process for other processes; null if none was configured. */
      replica_url: since('0017-browser-recordings', textOrNull),
    },
    indexes: { created_at: ['created_at', 'id'] },
  },
  browser_profiles: {
    sql: hidden,
    columns: {
      name: text,
      /** The set of its secrets: cookies and the storage of sites. */
      secret_set: textOrNull,
      /** Bytes of the secrets. */
      size: integer,
      /** The parts that were left out, as a sentence for a person; null if it is whole. */
      note: textOrNull,
      created_at: text,
      updated_at: text,
    },
    key: ['name'],
  },
})

/** Recordings of the pages of sessions. */
export const browserRecordingTables = declareAgentTables({
  browser_recordings: {
    sql: readable,
    columns: {
      session_id: text,
      /** Bytes of its pieces. */
      size: integer,
      started_at: text,
      /** Time when its last piece was stored. */
      ended_at: text,
    },
    key: ['session_id'],
  },
  browser_recording_pieces: {
    sql: hidden,
    columns: {
      session_id: text,
      /** Number from 0, in the order of events. */
      number: integer,
      /** A JSON array of rrweb events, compressed with gzip. */
      events: bytes,
    },
    key: ['session_id', 'number'],
  },
})
