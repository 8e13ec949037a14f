/** Reports the rows that committed statements have changed, for clients that follow an agent. */
import {
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  type CompiledQuery,
  type DatabaseConnection,
  DeleteQueryNode,
  type Dialect,
  type Driver,
  InsertQueryNode,
  type OperationNode,
  OperatorNode,
  ParensNode,
  PrimitiveValueListNode,
  ReferenceNode,
  TableNode,
  UpdateQueryNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
} from 'kysely'
import type { Change, ChangeFeed } from '#platform/change-feed.ts'
import { valueIn } from '#platform/prepared-query.ts'
import type { AgentTables, PlatformTables } from './tables.ts'

/** The type of a table's changes, and the column with their id. */
type Followed<Tables> = { [Name in keyof Tables]?: readonly [type: string, id: keyof Tables[Name] & string] }

/** Changes of a conversation name its id, which decides who can see them. */
const agentFollowed: Followed<AgentTables> = {
  conversations: ['conversations', 'id'],
  messages: ['messages', 'conversation_id'],
  tool_approvals: ['approvals', 'conversation_id'],
  sources: ['sources', 'id'],
  tools: ['tools', 'id'],
  tool_credentials: ['tools', 'cluster'],
  mcp_servers: ['mcp', 'id'],
  mcp_tools: ['mcp', 'server_id'],
  contacts: ['contacts', 'id'],
  workflows: ['workflows', 'id'],
  executions: ['executions', 'id'],
  node_results: ['executions', 'execution_id'],
  schedules: ['schedules', 'id'],
  schedule_executions: ['schedules', 'schedule_id'],
  calendar_tasks: ['calendar', 'id'],
  task_occurrences: ['calendar', 'task_id'],
  webhooks: ['webhooks', 'id'],
  webhook_deliveries: ['webhooks', 'webhook_id'],
  transactions: ['transactions', 'id'],
  payment_methods: ['payment-methods', 'id'],
  payment_notifications: ['payment-notifications', 'id'],
  x402_resources: ['x402-resources', 'id'],
  browser_sessions: ['browser', 'id'],
  browser_recordings: ['browser', 'session_id'],
}

const platformFollowed: Followed<PlatformTables> = {
  agents: ['settings', 'id'],
  agent_credentials: ['settings', 'agent_id'],
  agent_admins: ['admins', 'id'],
}
const agentColumns: Readonly<Record<string, string>> = { agents: 'id' }

/** Max rows of a statement that are named; above it, any row of the table might have changed. */
const maxNamed = 20

/** @param agentId the agent whose database it is; absent for that of the platform. */
export function reportChanges(dialect: Dialect, feed: ChangeFeed | undefined, agentId?: string): Dialect {
  if (feed === undefined) return dialect
  return {
    createDriver: () => reporting(dialect.createDriver(), query => changesOf(query, feed, agentId), feed),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: db => dialect.createIntrospector(db),
  }
}

interface AgentChange extends Change {
  agentId: string
}

function reporting(driver: Driver, read: (query: CompiledQuery) => AgentChange[], feed: ChangeFeed): Driver {
  const seen = new WeakSet<DatabaseConnection>()
  /** The changes of open transactions. */
  const uncommitted = new WeakMap<DatabaseConnection, AgentChange[]>()

  function report(changes: readonly AgentChange[]): void {
    for (const { agentId, ...change } of changes) feed.report(agentId, change)
  }

  function observe(connection: DatabaseConnection): DatabaseConnection {
    if (seen.has(connection)) return connection
    seen.add(connection)
    const execute = connection.executeQuery.bind(connection)
    connection.executeQuery = async <Row>(query: CompiledQuery, ...options: []) => {
      const result = await execute<Row>(query, ...options)
      const isChanged = result.rows.length > 0 || result.numAffectedRows !== 0n
      const changes = isChanged ? read(query) : []
      const open = uncommitted.get(connection)
      if (open === undefined) report(changes)
      else open.push(...changes)
      return result
    }
    return connection
  }

  function take(connection: DatabaseConnection): AgentChange[] {
    const changes = uncommitted.get(connection) ?? []
    uncommitted.delete(connection)
    return changes
  }

  const { savepoint, rollbackToSavepoint, releaseSavepoint } = driver
  return {
    init: options => driver.init(options),
    acquireConnection: async options => observe(await driver.acquireConnection(options)),
    async beginTransaction(connection, settings) {
      await driver.beginTransaction(connection, settings)
      uncommitted.set(connection, [])
    },
    async commitTransaction(connection) {
      await driver.commitTransaction(connection)
      report(take(connection))
    },
    async rollbackTransaction(connection) {
      take(connection)
      await driver.rollbackTransaction(connection)
    },
    async releaseConnection(connection, options) {
      take(connection)
      await driver.releaseConnection(connection, options)
    },
    ...(savepoint && { savepoint: savepoint.bind(driver) }),
    ...(rollbackToSavepoint && { rollbackToSavepoint: rollbackToSavepoint.bind(driver) }),
    ...(releaseSavepoint && { releaseSavepoint: releaseSavepoint.bind(driver) }),
    destroy: options => driver.destroy(options),
  }
}

function changesOf(query: CompiledQuery, feed: ChangeFeed, agentId: string | undefined): AgentChange[] {
  if (agentId !== undefined && !feed.isFollowed(agentId)) return []
  const table = tableOf(query.query)
  if (table === undefined) return []
  const tables: Readonly<Record<string, readonly [string, string] | undefined>> =
    agentId === undefined ? platformFollowed : agentFollowed
  const [type, column] = tables[table] ?? []
  if (type === undefined || column === undefined) return []
  const agents = agentId === undefined ? valuesOf(query, agentColumns[table] ?? 'agent_id') : [agentId]
  const ids = valuesOf(query, column)
  const isNamed = ids.length > 0 && ids.length <= maxNamed
  const changes = isNamed ? ids.map(id => ({ type, id })) : [{ type }]
  return agents
    .filter(agent => feed.isFollowed(agent))
    .flatMap(agent => changes.map(change => ({ agentId: agent, ...change })))
}

/** The table that a statement writes to. */
function tableOf(node: OperationNode): string | undefined {
  const table = InsertQueryNode.is(node)
    ? node.into
    : UpdateQueryNode.is(node)
      ? node.table
      : DeleteQueryNode.is(node)
        ? node.from.froms[0]
        : undefined
  return table !== undefined && TableNode.is(table) ? table.table.identifier.name : undefined
}

/** The values of a column in the rows that are added, or to which a condition restricts the rows. */
function valuesOf(query: CompiledQuery, column: string): string[] {
  const { query: node } = query
  const nodes = InsertQueryNode.is(node)
    ? addedValues(node, column)
    : UpdateQueryNode.is(node) || DeleteQueryNode.is(node)
      ? requiredValues(node.where?.where, column)
      : []
  return nodes.map(value => valueIn(query, value)).filter(value => typeof value === 'string')
}

function addedValues({ columns = [], values }: InsertQueryNode, column: string): unknown[] {
  const at = columns.findIndex(node => node.column.name === column)
  if (at < 0 || values === undefined || !ValuesNode.is(values)) return []
  return values.values.map(row => {
    const value = row.values[at]
    return ValueListNode.is(row) ? plainValue(row.values[at]) : value
  })
}

function requiredValues(node: OperationNode | undefined, column: string): unknown[] {
  if (node === undefined) return []
  if (ParensNode.is(node)) return requiredValues(node.node, column)
  if (AndNode.is(node)) {
    const left = requiredValues(node.left, column)
    return left.length > 0 ? left : requiredValues(node.right, column)
  }
  if (!BinaryOperationNode.is(node) || !ReferenceNode.is(node.leftOperand)) return []
  const { column: named } = node.leftOperand
  const isWanted = ColumnNode.is(named) && named.column.name === column
  if (!isWanted || !OperatorNode.is(node.operator)) return []
  if (node.operator.operator === '=') return [plainValue(node.rightOperand)]
  if (node.operator.operator !== 'in') return []
  const list = node.rightOperand
  if (PrimitiveValueListNode.is(list)) return [...list.values]
  return ValueListNode.is(list) ? list.values.map(plainValue) : []
}

function plainValue(node: OperationNode | undefined): unknown {
  return node !== undefined && ValueNode.is(node) ? node.value : undefined
}
