import { existsSync } from 'node:fs'
import { Kysely } from 'kysely'
import type { ChangeFeed } from '#platform/change-feed.ts'
import { type Disk, remoteDisk } from '#platform/disk.ts'
import { shareTransactions } from '#platform/transactions/transaction.ts'
import { reportChanges } from '../changed-rows.ts'
import type { StorageEngine } from '../engine.ts'
import { createFileBucket } from '../files/bucket.ts'
import { createDirectoryFiles } from '../files/directory.ts'
import type { BucketSettings } from '../files/file-store.ts'
import type { AgentTables, PlatformTables } from '../tables.ts'
import type { Checkpointer } from './connections/checkpoints.ts'
import type { DataDirectory } from './connections/data-directory.ts'
import { closeOnce, createSqliteDialect, type SqliteDialectOptions } from './connections/dialect.ts'
import { type OpenOptions, openDatabase, type Synchronous } from './connections/open.ts'
import { tryUntilFree } from './connections/retry.ts'
import { requireFile, requirePlatform } from './lost-files.ts'
import { schemaParts } from './schema-parts.ts'

interface EngineOptions {
  directory: DataDirectory
  synchronous: Synchronous
  /** The disk of the data directory; without it, no disk is watched. */
  disk?: Disk
  /** True if a lost file is replaced by a new one. */
  acceptsLoss?: boolean | undefined
  /** Stores the agents' files; without it they are stored in the data directory. */
  fileBucket?: BucketSettings | undefined
  /** Receives the changes of rows. */
  changes?: ChangeFeed | undefined
  /** Called for each second that a statement of the service has to wait for the database of this path. */
  onBlocked?(path: string): void
  /** Keeps the write-ahead log of a database short; without it, any commit might have to do so. */
  checkpointerOf?(path: string): Checkpointer
}

/** Max wait for opening a file (ms): a worker that closes its connection locks it for a moment. */
const openingPatience = 5_000

/** A file for the platform and one for each agent, all in the data directory. */
export function createEngine(engineOptions: EngineOptions): StorageEngine {
  const { directory, synchronous, fileBucket, onBlocked = () => {}, checkpointerOf } = engineOptions
  const { disk = remoteDisk, acceptsLoss = false, changes } = engineOptions
  const bucket = fileBucket && createFileBucket(fileBucket)
  async function open<Tables>(
    path: string,
    { agentId, ...options }: OpenOptions & { agentId?: string },
    checkpointer = checkpointerOf?.(path),
  ): Promise<Kysely<Tables>> {
    const dialectOf = (dialect: SqliteDialectOptions) =>
      reportChanges(createSqliteDialect(dialect), changes, agentId)
    const leavesCheckpoints = checkpointer !== undefined
    const database = await tryUntilFree(
      () => openDatabase(path, { ...options, leavesCheckpoints }),
      openingPatience,
    )
    const kysely = new Kysely<Tables>({
      dialect: dialectOf({
        database,
        onBlocked: () => onBlocked(path),
        ...(checkpointer && { onWrite: checkpointer.wrote }),
        async onDestroy() {
          await checkpointer?.settled()
          closeOnce(database)
        },
      }),
    })
    shareTransactions(kysely)
    return kysely
  }
  return {
    schema: schemaParts,
    isExclusive: true,
    disk,
    isUsed: async () => existsSync(directory.platformDatabase),
    async openPlatform() {
      if (!acceptsLoss) requirePlatform(directory)
      directory.preparePlatform()
      return await open<PlatformTables>(directory.platformDatabase, { synchronous })
    },
    async openAgent(agentId, { mustExist } = { mustExist: false }) {
      if (mustExist && !acceptsLoss) requireFile(directory.agentDatabase(agentId))
      const { database: path, files: folder } = await directory.prepareAgent(agentId)
      const files = bucket?.filesOf(agentId) ?? createDirectoryFiles(folder)
      const checkpointer = checkpointerOf?.(path)
      const db = await open<AgentTables>(path, { synchronous, agentId }, checkpointer)
      return { db, path, files, shrink: async () => await checkpointer?.shrink() }
    },
    async removeAgent(agentId) {
      await directory.removeAgent(agentId)
      await bucket?.removeFilesOf(agentId)
    },
    close: async () => directory.close(),
  }
}
