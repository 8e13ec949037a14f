import type { Kysely } from 'kysely'
import { embeddingName } from '#models/embeddings/embedding-name.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import { AppError } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import { orAborted } from '#platform/or-aborted.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { EmbeddingChanges } from './embedding-changes.ts'

interface Dependencies {
  platform: Kysely<PlatformTables>
  agentDatabases: Pick<AgentDatabases, 'use'>
  /** Returns the embedding of agents without a choice; throws if it is not available. */
  platformEmbedding(): Promise<EmbeddingModel>
  changes: Pick<EmbeddingChanges, 'follow'>
  log: Log
}

const fact = 'embedding'

/**
 * At the start, warns the operator if documents cannot be embedded, and updates all agents if the platform's
 * embedding has changed after the last update. The next start repeats an interrupted update.
 */
export async function followPlatformEmbedding(
  dependencies: Dependencies,
  signal: AbortSignal,
): Promise<void> {
  const { platform, platformEmbedding, log } = dependencies
  try {
    // A model on this machine takes long to load, and the process must be able to end earlier.
    const embedding = embeddingName(await orAborted(platformEmbedding(), signal))
    if ((await lastFollowed(platform)) === embedding) return
    await followInAll(dependencies, signal)
    signal.throwIfAborted()
    await remember(platform, embedding)
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof AppError)
      return log.warn(`Documents cannot be embedded by the configured model. ${error.message}`)
    log.error({ err: error }, 'the agents were not told of the embedding model')
  }
}

async function followInAll(
  { platform, agentDatabases, changes }: Dependencies,
  signal: AbortSignal,
): Promise<void> {
  const agents = await platform.selectFrom('agents').select('id').orderBy('id').execute()
  for (const { id } of agents) {
    signal.throwIfAborted()
    await agentDatabases
      .use(id, agent => changes.follow(agent))
      .catch(error => {
        // The agent was deleted after the list was read.
        if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error
      })
  }
}

async function lastFollowed(platform: Kysely<PlatformTables>): Promise<string | undefined> {
  const row = await platform
    .selectFrom('platform_facts')
    .select('value')
    .where('name', '=', fact)
    .executeTakeFirst()
  return row?.value
}

async function remember(platform: Kysely<PlatformTables>, value: string): Promise<void> {
  await platform
    .insertInto('platform_facts')
    .values({ name: fact, value })
    .onConflict(conflict => conflict.column('name').doUpdateSet({ value }))
    .execute()
}
