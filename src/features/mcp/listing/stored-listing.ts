import { sql } from 'kysely'
import type { AgentDatabase as Database } from '#storage/tables.ts'
import type { ToolDefinition } from './listing.ts'

interface StoredTool {
  name: string
  position: number | null
  definition_hash: string
  approved_hash: string | null
}

/** Rows per statement: engines accept a limited number of values. */
const batchSize = 500

/**
 * Replaces what is known about a server's tools by what it lists now, in the caller's transaction. Nothing is approved
 * by this unless `isApproved`. Removed tools are kept only if they were approved: a server that invents new names all
 * the time leaves nothing behind.
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

/** What a person has approved is kept when it is replaced, so that they see what has changed. */
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

/** The result of approving definitions: `missing` and `changed` name the first tool that differs from what was reviewed. */
export type ApprovalOutcome =
  | { kind: 'approved'; count: number }
  | { kind: 'missing'; name: string }
  | { kind: 'changed'; name: string }

/** Approves tools as stored, in the caller's transaction: those named with their hash, or all that are listed. */
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
