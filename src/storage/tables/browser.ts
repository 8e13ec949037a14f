import { defineAgentTables, hidden, readable } from './table-set.ts'

/** Browser sessions, also those that have ended, and the logins that are kept between them. */
export interface BrowserTables {
  browser_sessions: BrowserSessionsTable
  browser_profiles: BrowserProfilesTable
}

/** What sessions have recorded of their pages. */
export interface BrowserRecordingTables {
  browser_recordings: BrowserRecordingsTable
  browser_recording_pieces: BrowserRecordingPiecesTable
}

interface BrowserSessionsTable {
  id: string
  status: string
  /** 0 if it has a window on the operator's display. */
  headless: number
  /** CSS pixels. */
  viewport_width: number
  viewport_height: number
  user_agent: string
  /** The profile that it began with and saves; null without one. */
  profile: string | null
  /** The process whose browser it lives in, which renews the lease while it is open. */
  instance_id: string
  lease_until: string | null
  /** Where other processes reach that one; null if it was not told. Added with the recordings. */
  replica_url: string | null
  created_at: string
  last_activity: string
}

interface BrowserRecordingsTable {
  session_id: string
  /** Bytes of its pieces. */
  size: number
  started_at: string
  /** When its last piece was stored. */
  ended_at: string
}

interface BrowserRecordingPiecesTable {
  session_id: string
  /** From 0, in the order of their events. */
  number: number
  /** A JSON array of rrweb events, compressed with gzip. */
  events: Uint8Array
}

interface BrowserProfilesTable {
  name: string
  /** The set of its secrets: cookies and what sites have stored. */
  secret_set: string | null
  /** Bytes of these. */
  size: number
  /** What was left out, as a sentence for a person; null if it is whole. */
  note: string | null
  created_at: string
  updated_at: string
}

export const browserTables = defineAgentTables<BrowserTables>({
  rules: {
    browser_sessions: { sql: readable, copy: { key: ['id'], released: ['lease_until'] } },
    browser_profiles: { sql: hidden, copy: { key: ['name'] } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('browser_sessions')
      .addColumn('id', parts.textType, column => column.primaryKey())
      .addColumn('status', parts.textType, column => column.notNull())
      .addColumn('headless', 'integer', column => column.notNull())
      .addColumn('viewport_width', 'integer', column => column.notNull())
      .addColumn('viewport_height', 'integer', column => column.notNull())
      .addColumn('user_agent', parts.textType, column => column.notNull())
      .addColumn('profile', parts.textType)
      .addColumn('instance_id', parts.textType, column => column.notNull())
      .addColumn('lease_until', parts.textType)
      .addColumn('created_at', parts.textType, column => column.notNull())
      .addColumn('last_activity', parts.textType, column => column.notNull())
      .execute()
    await db.schema
      .createIndex('browser_sessions_created_at')
      .on('browser_sessions')
      .columns(['created_at', 'id'])
      .execute()
    await db.schema
      .createTable('browser_profiles')
      .addColumn('name', parts.textType, column => column.primaryKey())
      .addColumn('secret_set', parts.textType)
      .addColumn('size', 'integer', column => column.notNull())
      .addColumn('note', parts.textType)
      .addColumn('created_at', parts.textType, column => column.notNull())
      .addColumn('updated_at', parts.textType, column => column.notNull())
      .execute()
  },
})

export const browserRecordingTables = defineAgentTables<BrowserRecordingTables>({
  rules: {
    browser_recordings: { sql: readable, copy: { key: ['session_id'] } },
    browser_recording_pieces: { sql: hidden, copy: { key: ['session_id', 'number'] } },
  },
  async create(db, parts) {
    await db.schema.alterTable('browser_sessions').addColumn('replica_url', parts.textType).execute()
    await db.schema
      .createTable('browser_recordings')
      .addColumn('session_id', parts.textType, column => column.primaryKey())
      .addColumn('size', 'integer', column => column.notNull())
      .addColumn('started_at', parts.textType, column => column.notNull())
      .addColumn('ended_at', parts.textType, column => column.notNull())
      .execute()
    await db.schema
      .createTable('browser_recording_pieces')
      .addColumn('session_id', parts.textType, column => column.notNull())
      .addColumn('number', 'integer', column => column.notNull())
      .addColumn('events', parts.bytesType, column => column.notNull())
      .addPrimaryKeyConstraint('browser_recording_pieces_key', ['session_id', 'number'])
      .execute()
  },
})
