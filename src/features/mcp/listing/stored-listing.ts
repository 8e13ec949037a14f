import { sql } from 'kysely'
import type { AgentDatabase as Database } from '#storage/tables.ts'
import type { ToolDefinition } from './listing.ts'

interface StoredTool {
  name: string
  position: number | null
  definition_hash: string
  approved_hash: string | null
}

/** Number of rows per statement: engines accept a limited number of values. */
const batchSize = 500

/**
 * Replaces the stored tools of a server by its current list, in the caller's transaction. This approves tools
 * only if `isApproved`. Removed tools stay only if they were approved, so a server that always invents new
 * names leaves none behind.
 */
export async function saveListing(
  database: Database,
  serverId: string,
  tools: readonly ToolDefinition[],
  { isApproved }: { isApproved: boolean },
): Promise<void> {
  const stored = await listStored(database, serverId)
  const known = new Map(stored.map(tool => [tool.name, tool]))
  const listed = new Set(tools.map(({ name }) => name))
  const changed = tools
    .map(({ name, description, parameters, hash }, position) => ({
      server_id: serverId,
      name,
      description,
      parameters: JSON.stringify(parameters),
      position,
      definition_hash: hash,
      approved_hash: isApproved ? hash : null,
    }))
    .filter(({ name, position, definition_hash }) => {
      const former = known.get(name)
      return former?.position !== position || former.definition_hash !== definition_hash
    })
  for (const batch of batches(changed)) await upsert(database, batch)
  const gone = stored.filter(({ name, position }) => position !== null && !listed.has(name))
  for (const batch of batches(gone)) await takeOffList(database, serverId, batch)
}

async function listStored(database: Database, serverId: string): Promise<StoredTool[]> {
  return database
    .selectFrom('mcp_tools')
    .select(['name', 'position', 'definition_hash', 'approved_hash'])
    .where('server_id', '=', serverId)
    .execute()
}

async function upsert(database: Database, rows: (StoredTool & NewText)[]): Promise<void> {
  await database
    .insertInto('mcp_tools')
    .values(rows)
    .onConflict(conflict =>
      conflict.columns(['server_id', 'name']).doUpdateSet(({ ref }) => ({
        description: ref('excluded.description'),
        parameters: ref('excluded.parameters'),
        position: ref('excluded.position'),
        definition_hash: ref('excluded.definition_hash'),
        approved_description: lastApproved('description'),
        approved_parameters: lastApproved('parameters'),
      })),
    )
    .execute()
}

/** Keeps an approved text when it is replaced, so that the person sees the change. */
function lastApproved(column: 'description' | 'parameters') {
  const stored = (name: string) => sql.ref<string | null>(`mcp_tools.${name}`)
  const isApproved = sql`${stored('approved_hash')} = ${stored('definition_hash')}`
  return sql<
    string | null
  >`case when ${isApproved} then ${stored(column)} else ${stored(`approved_${column}`)} end`
}

interface NewText {
  server_id: string
  description: string
  parameters: string
}

async function takeOffList(
  database: Database,
  serverId: string,
  tools: readonly StoredTool[],
): Promise<void> {
  const names = tools.map(({ name }) => name)
  await database
    .deleteFrom('mcp_tools')
    .where('server_id', '=', serverId)
    .where('name', 'in', names)
    .where('approved_hash', 'is', null)
    .execute()
  await database
    .updateTable('mcp_tools')
    .set({ position: null })
    .where('server_id', '=', serverId)
    .where('name', 'in', names)
    .execute()
}

/** The result of an approval: `missing` and `changed` name the first tool unlike the reviewed one. */
export type ApprovalOutcome =
  | { kind: 'approved'; count: number }
  | { kind: 'missing'; name: string }
  | { kind: 'changed'; name: string }

/** Approves stored tools, in the caller's transaction: those named with their hash, or all listed ones. */
export async function approveStored(
  database: Database,
  serverId: string,
  wanted: readonly { name: string; hash: string }[] | undefined,
): Promise<ApprovalOutcome> {
  const stored = await listStored(database, serverId)
  const listed = new Map(stored.filter(({ position }) => position !== null).map(tool => [tool.name, tool]))
  for (const { name, hash } of wanted ?? []) {
    const tool = listed.get(name)
    if (tool === undefined) return { kind: 'missing', name }
    if (tool.definition_hash !== hash) return { kind: 'changed', name }
  }
  const names = (wanted ?? [...listed.values()])
    .map(({ name }) => name)
    .filter(name => {
      const tool = listed.get(name)
      return tool?.approved_hash !== tool?.definition_hash
    })
  for (const batch of batches(names))
    await database
      .updateTable('mcp_tools')
      .set(({ ref }) => ({ approved_hash: ref('definition_hash') }))
      .where('server_id', '=', serverId)
      .where('name', 'in', batch)
      .execute()
  return { kind: 'approved', count: new Set(names).size }
}

function batches<Item>(items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / batchSize)
  return Array.from({ length: count }, (_, index) => items.slice(index * batchSize, (index + 1) * batchSize))
}
