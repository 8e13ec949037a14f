import { type Static, Type } from 'typebox'
import { approvalRuleSchema } from '#models/tools/approval-rule.ts'
import { filterBy, listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'
import { executionStatuses, nodeStatuses } from './execution-status.ts'

/*
 * Workflow: a graph of nodes that starts at its trigger. Version: its saved nodes and edges. Execution: one
 * run of a version. Handle: the name of an exit of a node, which edges leave by. Path: the items of the loops
 * around a node, such as `2.0`. Segment: the part of an execution that is one job, from one wait to the next.
 *
 * Status of an execution: see engine/README.md.
 */

export const workflowStatuses = ['draft', 'active', 'paused', 'archived'] as const
export const nodeTypeNames = [
  'trigger',
  'if-else',
  'switch',
  'loop',
  'wait',
  'http-request',
  'email',
  'navigate',
  'click',
  'chat',
  'code',
  'telegram',
  'whatsapp',
] as const
export type NodeTypeName = (typeof nodeTypeNames)[number]

const time = Type.String({ format: 'date-time' })
const anyObject = { type: 'object', additionalProperties: true } as const
const json = Type.Unsafe<Record<string, unknown>>(anyObject)
const anyObjectOrNull = Type.Unsafe<Record<string, unknown> | null>({
  ...anyObject,
  type: ['object', 'null'],
})
const id = Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'Letters, digits, `_` and `-`.' })

const nodeSchema = Type.Object(
  {
    id,
    type: Type.String({ maxLength: 64 }),
    position: Type.Object(
      { x: Type.Number(), y: Type.Number() },
      { additionalProperties: false, default: { x: 0, y: 0 } },
    ),
    data: Type.Unsafe<Record<string, unknown>>({ ...anyObject, default: {} }),
  },
  { additionalProperties: false },
)
export type Node = Static<typeof nodeSchema>

const edgeSchema = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 300 }),
    source: Type.String({ maxLength: 64 }),
    target: Type.String({ maxLength: 64 }),
    sourceHandle: Type.Optional(orNull(Type.String({ maxLength: 64 }))),
  },
  { additionalProperties: false },
)
export type Edge = Static<typeof edgeSchema>

const status = Type.Enum([...workflowStatuses])
const trigger = { id: 'start', type: 'trigger', position: { x: 0, y: 0 }, data: {} }
const nodes = Type.Array(nodeSchema, { maxItems: 200, examples: [[trigger]] })
const edges = Type.Array(edgeSchema, { maxItems: 1000, examples: [[]] })
export interface Definition {
  nodes: Node[]
  edges: Edge[]
}

const toolSchema = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$', examples: ['place_order'] }),
    description: Type.String({ minLength: 1, maxLength: 2000, examples: ['Places an order.'] }),
    parameters: Type.Optional(json),
    requires_approval: Type.Optional(approvalRuleSchema),
  },
  { additionalProperties: false, description: 'Offers the active workflow to models as a tool.' },
)

const settings = {
  name: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', examples: ['Orders'] }),
  description: Type.String({ maxLength: 2000 }),
  status,
  concurrency: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of concurrent executions.',
  }),
  concurrency_counts_waiting: Type.Boolean({
    description:
      'Whether waiting executions count as running ones. If not, one that goes on may exceed `concurrency`. Default: true.',
  }),
  keep: Type.Enum(['all', 'errors', 'none'], { description: 'Which finished executions are kept.' }),
  tool: orNull(toolSchema),
}

const optional = {
  description: Type.Optional(settings.description),
  status: Type.Optional(settings.status),
  concurrency: Type.Optional(settings.concurrency),
  concurrency_counts_waiting: Type.Optional(settings.concurrency_counts_waiting),
  keep: Type.Optional(settings.keep),
  tool: Type.Optional(settings.tool),
}

/** Nodes and edges drop unknown fields, so that the objects of canvas libraries can be sent unchanged. */
export const newWorkflowSchema = Type.Object({
  ...optional,
  name: settings.name,
  nodes,
  edges,
})
export type NewWorkflow = Static<typeof newWorkflowSchema>

export const workflowChangesSchema = Type.Object(
  {
    ...optional,
    name: Type.Optional(settings.name),
    nodes: Type.Optional(nodes),
    edges: Type.Optional(edges),
  },
  { minProperties: 1, examples: [{ status: 'active' }] },
)
export type WorkflowChanges = Static<typeof workflowChangesSchema>

const warningSchema = Type.Object({
  node: Type.Optional(Type.String()),
  field: Type.String(),
  issue: Type.String(),
})

const summary = {
  id: Type.String(),
  ...settings,
  version: Type.Integer(),
  created_at: time,
  updated_at: time,
}
export const workflowSummarySchema = Type.Object(summary, { title: 'WorkflowSummary' })
export type WorkflowSummary = Static<typeof workflowSummarySchema>

export const workflowSchema = Type.Object(
  {
    ...summary,
    nodes,
    edges,
    warnings: Type.Array(warningSchema, { description: 'Problems that prevent the workflow from running.' }),
  },
  { title: 'Workflow' },
)
export type Workflow = Static<typeof workflowSchema>

export const workflowListQuery = Type.Object({
  ...listParameters,
  status: filterBy(status),
})
export type WorkflowListQuery = Static<typeof workflowListQuery>
export const hookSchema = Type.Object({
  url: Type.String({ description: 'Secret address. Only this answer contains it.' }),
})

export const executeSchema = Type.Object({
  workflow_id: Type.String({ minLength: 1, examples: ['WORKFLOW-ID'] }),
  input: Type.Optional(json),
  pinned: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Fixed outputs of nodes, which do not run.' }),
  ),
  stop_after: Type.Optional(Type.String({ description: 'Id of the last node that runs.' })),
  wait: Type.Optional(
    Type.Number({ minimum: 0, maximum: 60, description: 'Seconds to wait for the end of the execution.' }),
  ),
})
export type Execute = Static<typeof executeSchema>
export const idempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Requests with the same key start one execution.',
    }),
  ),
})

export const retrySchema = Type.Object({
  from_node: Type.Optional(
    Type.String({ description: 'Id of the first node that runs again. Default: the failed node.' }),
  ),
  version: Type.Optional(
    Type.Enum(['current', 'same'], { description: 'Version of the workflow. Default: current.' }),
  ),
})
export type Retry = Static<typeof retrySchema>
export const decisionSchema = Type.Object({
  approved: Type.Boolean({ examples: [true] }),
  data: Type.Optional(Type.Unknown()),
  path: Type.Optional(Type.String({ description: 'Path of the node, needed if several of its runs wait.' })),
})
export type Decision = Static<typeof decisionSchema>

export const startedSchema = Type.Object({
  execution_id: Type.String(),
  status: Type.Enum([...executionStatuses]),
  started_at: orNull(time),
})
export type Started = Static<typeof startedSchema>

const executionSummary = {
  id: Type.String(),
  workflow_id: Type.String(),
  version: Type.Integer(),
  status: Type.Enum([...executionStatuses]),
  status_detail: orNull(
    Type.String({
      description: '`waiting_for_approval`, or `waiting_until` with a time; null unless the execution waits.',
    }),
  ),
  cause: Type.Object({ kind: Type.String(), ref: Type.Optional(Type.String()) }),
  error: orNull(Type.String()),
  waiting_until: orNull(time),
  created_at: time,
  started_at: orNull(time),
  completed_at: orNull(time),
}
export const executionSummarySchema = Type.Object(executionSummary, { title: 'ExecutionSummary' })
export type ExecutionSummary = Static<typeof executionSummarySchema>

export const nodeResultSchema = Type.Object({
  node_id: Type.String(),
  path: Type.String({
    description: 'Indexes of the loop items around the node, such as `2.0`; empty outside of loops.',
  }),
  status: Type.Enum([...nodeStatuses]),
  started_at: time,
  completed_at: orNull(time),
  duration_ms: Type.Integer(),
  attempts: Type.Integer(),
  input: Type.Unknown({
    description:
      'The `data` of the node with its templates resolved. Null if the node did not run, its workflow was deleted, or inputs before it were too long.',
  }),
  truncated: Type.Optional(
    Type.Boolean({ description: 'Whether `input` is only a part, of at most 64 KB.' }),
  ),
  output: Type.Unknown({ description: 'Null once the outputs before it reach 2 MiB.' }),
  error: orNull(Type.String()),
  warnings: Type.Array(Type.String()),
})
export const executionSchema = Type.Object(
  { ...executionSummary, input: json, output: anyObjectOrNull, node_results: Type.Array(nodeResultSchema) },
  { title: 'WorkflowExecution' },
)
export type Execution = Static<typeof executionSchema>

/** The fields of an execution are present if the request waited for it. */
export const executedSchema = Type.Object({
  ...Type.Partial(executionSchema).properties,
  ...startedSchema.properties,
})

export const nodeResultQuery = Type.Object({
  path: Type.Optional(
    Type.String({
      maxLength: 1000,
      description:
        'Path of the run in loops, such as `2.0`, and a part of `input` or `output`, such as `input.body.rows[0]`: `2.0.input.body`.',
    }),
  ),
})

export const executionListQuery = Type.Object({
  ...listParameters,
  workflow_id: Type.Optional(Type.String({ description: 'Return only executions of this workflow.' })),
  status: filterBy(Type.Enum([...executionStatuses, 'waiting'])),
})
export type ExecutionListQuery = Static<typeof executionListQuery>
