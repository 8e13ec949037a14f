import type { ByLane } from '#platform/jobs/lanes.ts'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import { findAgent } from '../agent-databases.ts'
import type { OpenAgent } from '../engine.ts'
import { migrate } from '../migrate.ts'
import { agentTables, migrationsOf } from '../tables.ts'
import { wakeLostWork } from '../wake-lost-work.ts'
import { type AgentFiles, agentFiles } from './agent-files.ts'
import { copyFiles, readFiles } from './copy-files.ts'
import { copyRows, readRows } from './copy-rows.ts'
import { copyVectors, readVectors } from './copy-vectors.ts'
import type { Part } from './digest.ts'
import type { Progress } from './progress.ts'
import { rebuildFullText, requireFullText, type SearchableText } from './rebuild-full-text.ts'
import type { AnyDatabase, StorageEnd } from './storage-end.ts'
import { agentPlans, copiedTables, requirePlans } from './table-plans.ts'

interface Dependencies {
  source: StorageEnd
  target: StorageEnd
  /** The wake-ups of the target. */
  wakeUps: ByLane<Pick<WakeUps, 'pull'>>
  searchableText: SearchableText
  progress: Progress
}

const tables = copiedTables(agentPlans)

/**
 * Recreates the agent's database in the target and fills it. Returns a summary of the source, and does not
 * verify the copy.
 */
export async function copyAgent(agentId: string, dependencies: Dependencies): Promise<Part[]> {
  const { source, target, wakeUps, searchableText, progress } = dependencies
  await target.engine.removeAgent(agentId)
  return await withAgent(source, agentId, from =>
    withAgent({ ...target, isNew: true }, agentId, async to => {
      const parts: Part[] = []
      for (const [table, plan] of tables) {
        const onRows = progress.of(table)
        parts.push(await copyRows({ ...from, table, plan }, to, onRows))
      }
      for (const table of await from.catalogue.vectorTables(from.db))
        parts.push(await copyVectors(from, to, table, progress.of(table.name)))
      await rebuildFullText(to, searchableText, progress.of('chunk_text'))
      parts.push(await copyFiles(from, to))
      await wakeLostWork(wakeUps)({ agentId, db: to.agent.db })
      return parts
    }),
  )
}

/**
 * Reads the copy that `copyAgent` has written.
 * @throws Error when the full-text index is not complete.
 */
export async function readCopiedAgent(agentId: string, { target }: Dependencies): Promise<Part[]> {
  return await withAgent(target, agentId, async place => {
    const parts: Part[] = []
    for (const [table, plan] of tables) parts.push(await readRows({ ...place, table, plan }))
    for (const table of await place.catalogue.vectorTables(place.db))
      parts.push(await readVectors(place, table))
    parts.push(await readFiles(place))
    await requireFullText(place)
    return parts
  })
}

interface AgentPlace extends Pick<StorageEnd, 'catalogue' | 'search'> {
  agent: OpenAgent
  /** The same database, without types. */
  db: AnyDatabase
  files: AgentFiles
}

async function withAgent<Result>(
  end: StorageEnd & { isNew?: true },
  agentId: string,
  work: (place: AgentPlace) => Promise<Result>,
): Promise<Result> {
  const { engine, catalogue, search, isNew = false } = end
  // Without this, an agent whose file was lost would be copied as an empty one.
  const mustExist = !isNew && (await findAgent(end.platform, agentId))?.has_database === 1
  const agent = await engine.openAgent(agentId, { mustExist })
  try {
    await migrate(agent.db, migrationsOf(agentTables, engine.schema))
    const vectors = await catalogue.vectorTables(agent.db)
    requirePlans(
      await catalogue.tables(agent.db),
      agentPlans,
      vectors.map(({ name }) => name),
    )
    const db = agent.db as unknown as AnyDatabase
    return await work({ agent, db, catalogue, search, files: agentFiles(agent) })
  } finally {
    await agent.db.destroy()
  }
}
