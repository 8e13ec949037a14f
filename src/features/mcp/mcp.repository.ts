import { type Kysely, sql } from 'kysely'
import type { ToolParameters } from '#models/tools/tool.ts'
import { text } from '#platform/columns.ts'
import { listLarge } from '#platform/http/lists/list-large.ts'
import { listOf } from '#platform/http/lists/list-of.ts'
import { listRows, type Page } from '#platform/http/lists/list-query.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import { parseJsonColumn } from '#storage/json-column.ts'
import { mcpTables } from '#storage/tables/mcp.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { McpServer, McpTool, ServerListQuery, ServerStatus, ToolListQuery } from './mcp.schema.ts'

type Database = Kysely<AgentTables>

/** A stored server. */
export type ServerRow = AgentTables['mcp_servers']

const serverList = listOf(mcpTables.columns.mcp_servers, {
  sortable: ['id', 'name', 'url', 'status', 'created_at'],
  searchable: ['name', 'url'],
})

const toolList = listOf(
  { ...mcpTables.columns.mcp_tools, created_at: text, status: text },
  {
    sortable: ['position', 'name', 'description', 'status'],
    searchable: ['name', 'description'],
    by: ['position'],
    order: 'asc',
    unique: 'name',
  },
)

/** Selects the tools that a server lists, with the time of its registration as theirs. */
function selectListed(database: Database, serverId: string) {
  const tools = database
    .selectFrom('mcp_tools')
    .innerJoin('mcp_servers', 'mcp_servers.id', 'mcp_tools.server_id')
    .select(({ eb, ref, val }) => [
      'mcp_tools.name',
      'mcp_tools.description',
      'mcp_tools.parameters',
      'mcp_tools.position',
      'mcp_tools.definition_hash',
      'mcp_tools.approved_description',
      'mcp_tools.approved_parameters',
      'mcp_servers.created_at',
      eb
        .case()
        .when('mcp_tools.approved_hash', 'is', null)
        .then(val<string>('new'))
        .when('mcp_tools.approved_hash', '=', ref('mcp_tools.definition_hash'))
        .then(val<string>('approved'))
        .else(val<string>('changed'))
        .end()
        .as('status'),
    ])
    .where('mcp_tools.server_id', '=', serverId)
    .where('mcp_tools.position', 'is not', null)
  return database.selectFrom(tools.as('tools'))
}

/** Selects the places in a list, before the tools, which can be large. */
function selectPlaces(database: Database, serverId: string) {
  const size = sql<number>`octet_length(description) + octet_length(parameters) + coalesce(octet_length(approved_parameters), 0)`
  return selectListed(database, serverId).select([...toolList.columns, size.as('size')])
}

const selectServer = prepareQuery((database: Database, value: ValueOf<'id'>) =>
  database.selectFrom('mcp_servers').selectAll().where('id', '=', value('id')),
)

const selectTool = prepareQuery((database: Database, value: ValueOf<'serverId' | 'name'>) =>
  database
    .selectFrom('mcp_tools')
    .select(['name', 'description', 'parameters', 'position', 'definition_hash', 'approved_hash'])
    .where('server_id', '=', value('serverId'))
    .where('name', '=', value('name')),
)

/**
 * More tools than any model is offered; those of the servers registered first come first. The limit is part
 * of the query's text: SQLite would prepare a statement again for each value.
 */
const maxOffered = sql.lit(1000)

const selectOffered = prepareQuery((database: Database) =>
  database
    .selectFrom('mcp_servers')
    .innerJoin('mcp_tools', 'mcp_tools.server_id', 'mcp_servers.id')
    .select([
      'mcp_servers.id as serverId',
      'mcp_servers.name as serverName',
      'mcp_servers.url as serverUrl',
      'mcp_tools.name',
      'mcp_tools.description',
      'mcp_tools.parameters',
    ])
    .where('mcp_tools.position', 'is not', null)
    .whereRef('mcp_tools.approved_hash', '=', 'mcp_tools.definition_hash')
    .orderBy('mcp_servers.created_at')
    .orderBy('mcp_servers.id')
    .orderBy('mcp_tools.position')
    .limit(maxOffered),
)

/** Lists the tools that models may be offered, from all servers of the agent. */
export const listOffered = (database: Database) => selectOffered(database, {})

export async function listServers(database: Database, query: ServerListQuery): Promise<Page<McpServer>> {
  let servers = database.selectFrom('mcp_servers').selectAll()
  if (query.status !== undefined) servers = servers.where('status', 'in', query.status)
  const { rows, meta } = await listRows(servers, serverList, query)
  return { rows: rows.map(toServer), meta }
}

export async function findServer(database: Database, id: string): Promise<ServerRow | undefined> {
  return (await selectServer(database, { id }))[0]
}

export async function findServerNamed(database: Database, name: string): Promise<{ id: string } | undefined> {
  return database.selectFrom('mcp_servers').select('id').where('name', '=', name).executeTakeFirst()
}

export async function countServers(database: Database): Promise<number> {
  const { count } = await database
    .selectFrom('mcp_servers')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Returns false, without an insert, if the name is in use. */
export async function insertServer(database: Database, server: ServerRow): Promise<boolean> {
  const inserted = await database
    .insertInto('mcp_servers')
    .values(server)
    .onConflict(conflict => conflict.column('name').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

export async function updateServerStatus(
  database: Database,
  id: string,
  changes: { status: ServerStatus; error: string | null; updated_at: string },
): Promise<void> {
  await database.updateTable('mcp_servers').set(changes).where('id', '=', id).execute()
}

/** Returns false if the server no longer exists. Its tools are removed with it. */
export async function deleteServer(database: Database, id: string): Promise<boolean> {
  const { numDeletedRows } = await inTransaction(database, transaction =>
    transaction.deleteFrom('mcp_servers').where('id', '=', id).executeTakeFirst(),
  )
  return numDeletedRows > 0n
}

export async function listTools(
  database: Database,
  serverId: string,
  query: ToolListQuery,
): Promise<Page<McpTool>> {
  let tools = selectPlaces(database, serverId)
  if (query.status !== undefined) tools = tools.where('status', 'in', query.status)
  const { rows, meta } = await listLarge(tools, toolList, query, {
    key: 'name',
    read: names =>
      selectListed(database, serverId)
        .select(['name', 'description', 'parameters', 'definition_hash', 'status'])
        .select(['approved_description', 'approved_parameters'])
        .where('name', 'in', names)
        .execute(),
  })
  return {
    rows: rows.map(
      ({ name, description, parameters, status, definition_hash, approved_parameters, ...tool }) => ({
        name,
        description,
        parameters: parametersOf(parameters),
        status: status as McpTool['status'],
        hash: definition_hash,
        ...(status === 'changed' &&
          approved_parameters !== null && {
            approved: {
              description: tool.approved_description ?? '',
              parameters: parametersOf(approved_parameters),
            },
          }),
      }),
    ),
    meta,
  }
}

export async function findTool(database: Database, serverId: string, name: string) {
  return (await selectTool(database, { serverId, name }))[0]
}

export function toServer({ id, name, url, status, error, created_at }: ServerRow): McpServer {
  const server: McpServer = { id, name, url, status: status as ServerStatus, created_at }
  if (error !== null) server.error = error
  return server
}

/** Parses a schema; an unreadable one requires no arguments. */
export function parametersOf(json: string): ToolParameters {
  return parseJsonColumn<ToolParameters>(json, { type: 'object', properties: {} })
}
