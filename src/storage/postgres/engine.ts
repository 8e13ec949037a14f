import { Kysely, type PostgresPool, sql } from 'kysely'
import type { Pool } from 'pg'
import type { ChangeFeed } from '#platform/change-feed.ts'
import { remoteDisk } from '#platform/disk.ts'
import { AppError } from '#platform/errors.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import { reportChanges } from '../changed-rows.ts'
import type { StorageEngine } from '../engine.ts'
import { createFileBucket } from '../files/bucket.ts'
import { createDatabaseFiles } from '../files/database.ts'
import type { BucketSettings } from '../files/file-store.ts'
import type { AgentTables, PlatformTables } from '../tables.ts'
import { agentAddress } from './connections/address.ts'
import { checkServer } from './connections/check-server.ts'
import { createPool, quoted, schemaPool } from './connections/connections.ts'
import { createPostgresDialect } from './connections/dialect.ts'
import { isDuplicate } from './connections/errors.ts'
import { createListener, type Listener } from './connections/listener.ts'
import { dropRole } from './connections/sql-role.ts'
import { schemaParts } from './schema-parts.ts'
import { ensureVectorExtension } from './vectors/vector-extension.ts'

const platformSchema = 'agentstead'

interface EngineOptions {
  /** Address of the database, with its password. */
  url: string
  /** Max connections of this process, at least 2. */
  maxConnections: number
  /** Stores the agents' files; without it they are stored in the database. */
  fileBucket?: BucketSettings | undefined
  /** True if a lost schema of an agent is replaced by a new one. */
  acceptsLoss?: boolean
  /** Receives the changes of rows. */
  changes?: ChangeFeed | undefined
  /** Gets the errors of connections that break while idle. */
  onError(error: Error): void
}

/** The database itself, for parts that keep tables of their own beside those of the platform. */
interface DirectDatabase {
  /** Uses a connection of the platform; table names must include their schema. */
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** Listens to all channels on one connection, in addition to `maxConnections`. */
  listen(
    channel: string,
    onNotification: (payload: string) => void,
    onReconnect: () => void,
  ): Promise<Listener>
}

interface PostgresEngine extends StorageEngine {
  direct: DirectDatabase
}

/** A schema for the platform and one for each agent, all in one database. */
export function createEngine(options: EngineOptions): PostgresEngine {
  const { url, maxConnections, fileBucket, acceptsLoss = false, changes, onError } = options
  // Transactions of agents might have to write to the platform at the same time: they must not use up the
  // connections needed for that.
  const forPlatform = Math.max(1, Math.floor(maxConnections / 3))
  // One connection of each stays open, in case the server accepts no other.
  const platformPool = createPool(url, { min: 1, max: forPlatform }, onError)
  const agentPool = createPool(url, { min: 1, max: maxConnections - forPlatform }, onError)
  const bucket = fileBucket && createFileBucket(fileBucket)
  const listener = createListener({ url, onError })
  let closing: Promise<unknown> | undefined
  return {
    schema: schemaParts,
    isExclusive: false,
    disk: remoteDisk,
    async isUsed() {
      await checkServer(platformPool, url)
      return hasSchema(platformPool, platformSchema)
    },
    async openPlatform() {
      await checkServer(platformPool, url)
      await ensureSchema(platformPool, platformSchema)
      const platform = open<PlatformTables>(schemaPool(platformPool, platformSchema), changes)
      await ensureVectorExtension(platform)
      return platform
    },
    async openAgent(agentId, { mustExist } = { mustExist: false }) {
      const schema = agentSchema(agentId)
      await ensureSchema(agentPool, schema, mustExist && !acceptsLoss)
      const db = open<AgentTables>(schemaPool(agentPool, schema), changes, agentId)
      const path = agentAddress(url, schema)
      const files = bucket?.filesOf(agentId) ?? createDatabaseFiles({ db, path })
      return { db, path, files, shrink: async () => {} }
    },
    async removeAgent(agentId) {
      const schema = agentSchema(agentId)
      await dropSchema(agentPool, schema)
      // A role that cannot be dropped has no privileges left, and an unknown password.
      await dropRole(agentPool, schema).catch(onError)
      await bucket?.removeFilesOf(agentId)
    },
    direct: {
      executeSql: (text, values) => platformPool.query(text, values),
      listen: (channel, onNotification, onReconnect) =>
        listener.listen({ channel, onNotification, onReconnect }),
    },
    async close() {
      closing ??= Promise.all([platformPool.end(), agentPool.end()])
      await closing
    },
  }
}

function open<Tables>(pool: PostgresPool, changes?: ChangeFeed, agentId?: string): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: reportChanges(createPostgresDialect(pool), changes, agentId) })
}

async function hasSchema(pool: Pool, schema: string): Promise<boolean> {
  const { rowCount } = await pool.query('select 1 from pg_namespace where nspname = $1', [schema])
  return rowCount === 1
}

/** @throws AppError `DATA_DAMAGED` if it must exist and does not. */
async function ensureSchema(pool: Pool, schema: string, mustExist = false): Promise<void> {
  if (await hasSchema(pool, schema)) return
  if (mustExist)
    throw new AppError(
      'DATA_DAMAGED',
      `The schema ${schema} of the database is missing. Put it back from a backup.`,
    )
  try {
    await pool.query(`create schema ${quoted(schema)}`)
  } catch (error) {
    // Another process was faster.
    if (!isDuplicate(error)) throw error
  }
}

/** Drops the schema, with retries: others' work there can fail an attempt, for instance by a deadlock. */
async function dropSchema(pool: Pool, schema: string): Promise<void> {
  const drop = sql`drop schema if exists ${sql.id(schema)} cascade`
  await inTransaction(open(schemaPool(pool, schema)), transaction => drop.execute(transaction))
}

/** Lower case only, and short enough for an identifier in PostgreSQL (63 bytes). */
const agentIdPattern = /^[a-z0-9][a-z0-9-]{0,55}$/

function agentSchema(agentId: string): string {
  if (!agentIdPattern.test(agentId)) throw new Error(`not an agent id: ${JSON.stringify(agentId)}`)
  return `agent_${agentId}`
}
