import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Kysely } from 'kysely'
import type { Configuration } from '#configuration/configuration.ts'
import { openStorage } from '#infrastructure/open-storage.ts'
import { createLog } from '#platform/logging/log.ts'
import { createSqliteDialect } from '#storage/sqlite/connections/dialect.ts'
import { openDatabase } from '#storage/sqlite/connections/open.ts'
import type { AgentTables, PlatformTables } from '#storage/tables.ts'
import type { DataReader } from './data.ts'

/** Max time (ms) that a command waits for a database that is being written. */
const busyTimeout = 5_000

/** Calls `work` with the data, also while a service uses them; undefined if there are none yet. */
export async function withData<Result>(
  configuration: Configuration,
  work: (data: DataReader) => Promise<Result>,
): Promise<Result | undefined> {
  return configuration.database === undefined
    ? await withDirectory(resolve(configuration.dataDirectory), work)
    : await withServer(configuration, work)
}

/** Only reads, so needs no lock of the data directory. */
async function withDirectory<Result>(root: string, work: (data: DataReader) => Promise<Result>) {
  if (!existsSync(join(root, 'platform.db'))) return undefined
  function open<Tables>(path: string) {
    const database = openDatabase(join(root, path), { synchronous: 'normal', readOnly: true, busyTimeout })
    return new Kysely<Tables>({ dialect: createSqliteDialect({ database }) })
  }
  await using platform = disposable(open<PlatformTables>('platform.db'))
  return await work({
    platform: platform.db,
    async withAgent(agentId, read) {
      await using agent = disposable(open<AgentTables>(join('agents', agentId, 'agent.db')))
      return await read(agent.db)
    },
  })
}

async function withServer<Result>(configuration: Configuration, work: (data: DataReader) => Promise<Result>) {
  const { engine } = await openStorage(configuration, createLog('silent'))
  try {
    if (!(await engine.isUsed())) return undefined
    await using platform = disposable(await engine.openPlatform())
    return await work({
      platform: platform.db,
      async withAgent(agentId, read) {
        await using agent = disposable((await engine.openAgent(agentId, { mustExist: true })).db)
        return await read(agent.db)
      },
    })
  } finally {
    await engine.close()
  }
}

function disposable<Tables>(db: Kysely<Tables>) {
  return { db, [Symbol.asyncDispose]: () => db.destroy() }
}
