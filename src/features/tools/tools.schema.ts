import { type Static, Type } from 'typebox'
import { approvalRuleSchema, approversSchema } from '#models/tools/approval-rule.ts'
import { filterBy, listMetaSchema, listParameters } from '#platform/http/lists/list-query.ts'

/*
 * Tool: something that an agent can do, set up by a person. Cluster: a name that tools share, such as the title of the document
 * they were imported from. Configuration: the settings for a call of a tool of its type; its secrets come back masked.
 */

const time = Type.String({ format: 'date-time' })

export const toolTypes = ['http', 'javascript', 'mcp'] as const
export type ToolType = (typeof toolTypes)[number]

const name = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', examples: ['readPage'] })
const description = Type.String({ maxLength: 4000 })
const configuration = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'http: {url, method, headers?, parameters?, body?}; javascript: {code, parameters?}; mcp: {serverId, toolName}.',
  examples: [{ url: 'https://example.com/{page}', method: 'GET' }],
})
const cluster = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' })
const isEnabled = Type.Boolean({ description: 'Whether the tool is offered to models.' })

export const toolSchema = Type.Object(
  {
    id: Type.String(),
    name,
    description: Type.String(),
    type: Type.Enum([...toolTypes]),
    configuration,
    isEnabled,
    requiresApproval: approvalRuleSchema,
    approvers: approversSchema,
    cluster: Type.Optional(cluster),
    created_at: time,
    updated_at: time,
  },
  { title: 'AgentTool' },
)
export type AgentTool = Static<typeof toolSchema>

export const newToolSchema = Type.Object({
  name,
  description: Type.Optional(description),
  type: Type.Enum([...toolTypes]),
  configuration,
  cluster: Type.Optional(cluster),
  isEnabled: Type.Optional(isEnabled),
  requiresApproval: Type.Optional(approvalRuleSchema),
  approvers: Type.Optional(approversSchema),
})
export type NewTool = Static<typeof newToolSchema>

export const toolChangesSchema = Type.Object(
  {
    name: Type.Optional(name),
    description: Type.Optional(description),
    configuration: Type.Optional(configuration),
    cluster: Type.Optional(Type.Union([cluster, Type.Null()])),
    isEnabled: Type.Optional(isEnabled),
    requiresApproval: Type.Optional(approvalRuleSchema),
    approvers: Type.Optional(approversSchema),
  },
  { minProperties: 1, examples: [{ isEnabled: true }] },
)
export type ToolChanges = Static<typeof toolChangesSchema>

export const toolListQuery = Type.Object({
  ...listParameters,
  type: filterBy(Type.Enum([...toolTypes])),
  cluster: filterBy(Type.String()),
  builtin: Type.Optional(
    Type.Boolean({ description: 'Lists built-in tools before those of the first page, uncounted.' }),
  ),
})
export type ToolListQuery = Static<typeof toolListQuery>

/** A tool of a list: built-in ones have no times, and their names as ids. */
const listedToolSchema = Type.Object({
  ...toolSchema.properties,
  type: Type.Enum([...toolTypes, 'builtin']),
  created_at: Type.Optional(time),
  updated_at: Type.Optional(time),
})
export type ListedTool = Static<typeof listedToolSchema>

export const toolListSchema = Type.Object({
  success: Type.Boolean(),
  data: Type.Array(listedToolSchema),
  meta: listMetaSchema,
})

export const toolAnswerSchema = Type.Object({ success: Type.Boolean(), data: toolSchema })

/** An empty name is rejected: it would mean all tools without a cluster. */
export const clusterName = Type.String({ minLength: 1 })

export const clusterDeletedSchema = Type.Object({
  success: Type.Boolean(),
  data: Type.Object({ deleted: Type.Integer() }),
})

export const testCallSchema = Type.Object({
  arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})

export const testAnswerSchema = Type.Object({
  success: Type.Boolean({ description: 'Whether the call succeeded.' }),
  data: Type.Object({
    result: Type.Optional(Type.Unknown()),
    error: Type.Optional(Type.String()),
    coerced: Type.Optional(
      Type.Array(Type.String(), { description: 'How the arguments were changed so that they fit.' }),
    ),
    duration_ms: Type.Integer(),
  }),
})
