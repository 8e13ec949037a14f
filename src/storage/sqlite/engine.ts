import { Kysely } from 'kysely'
import type { StorageEngine } from '../engine.ts'
import { offerReadAtOnce } from '../prepared-query.ts'
import type { AgentTables, PlatformTables } from '../tables.ts'
import type { DataDirectory } from './data-directory.ts'
import { createSqliteDialect } from './dialect.ts'
import type { OpenOptions, Synchronous } from './open.ts'
import { openDatabase } from './open.ts'
import { createReadAtOnce } from './read-at-once.ts'
import { removeOrphans } from './remove-orphans.ts'
import { tryUntilFree } from './retry.ts'
import { schemaParts } from './schema-parts.ts'

interface EngineOptions {
  directory: DataDirectory
  synchronous: Synchronous
}

/** Milliseconds; a worker that closes its connection holds the file for an instant. */
const openingPatience = 5_000

/** A file for the platform and one for each agent, all in the data directory. */
export function createEngine({ directory, synchronous }: EngineOptions): StorageEngine {
  async function open<Tables>(path: string, options: OpenOptions): Promise<Kysely<Tables>> {
    const database = await tryUntilFree(() => openDatabase(path, options), openingPatience)
    const kysely = new Kysely<Tables>({ dialect: createSqliteDialect({ database }) })
    offerReadAtOnce(kysely, createReadAtOnce(database))
    return kysely
  }
  return {
    exclusive: true,
    schema: schemaParts,
    openPlatform: () => open<PlatformTables>(directory.platformDatabase, { synchronous }),
    async openAgent(agentId) {
      const { database: path, files: filesDirectory } = await directory.prepareAgent(agentId)
      return { db: await open<AgentTables>(path, { synchronous, vectors: true }), path, filesDirectory }
    },
    recover: removeOrphans,
    removeAgent: agentId => directory.removeAgent(agentId),
    close: async () => directory.close(),
  }
}
