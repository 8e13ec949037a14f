import { type Static, Type } from 'typebox'
import { filterBy, listMetaSchema, listParameters } from '#platform/http/lists/list-query.ts'

/*
 * MCP server: an external service that offers tools over HTTP, registered on an agent by a person. Listing:
 * its description of its tools. Definition: its whole description of one tool. Pinning: a definition is
 * offered to a model only while it is the one that a person has approved, by its hash.
 *
 * Status of a server: the result of the last attempt to use it. (none) --register--> any; any --a usable
 * answer--> connected; any --no answer--> disconnected; any --another answer--> error
 */

export const serverStatuses = ['connected', 'disconnected', 'error'] as const
export type ServerStatus = (typeof serverStatuses)[number]

export const toolStatuses = ['approved', 'changed', 'new'] as const

const time = Type.String({ format: 'date-time' })

export const serverSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    url: Type.String(),
    status: Type.Enum([...serverStatuses], { description: 'Outcome of the latest connection attempt.' }),
    error: Type.Optional(
      Type.String({ description: 'Why the attempt failed. Absent if `status` is `connected`.' }),
    ),
    created_at: time,
  },
  { title: 'McpServer' },
)
export type McpServer = Static<typeof serverSchema>

export const newServerSchema = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '\\S',
    description: 'Without line breaks or invisible characters.',
    examples: ['Search'],
  }),
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'URL of the MCP endpoint, http or https.',
    examples: ['https://example.com/mcp'],
  }),
  auth: Type.Optional(
    Type.Object(
      {
        type: Type.Enum(['none', 'bearer']),
        token: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 4096,
            pattern: '^[!-~]+$',
            description: 'Printable ASCII without blanks.',
            writeOnly: true,
          }),
        ),
      },
      { description: 'The type `bearer` needs a token; `none`, the default, takes none.' },
    ),
  ),
})
export type NewServer = Static<typeof newServerSchema>

export const serverListQuery = Type.Object({
  ...listParameters,
  status: filterBy(Type.Enum([...serverStatuses])),
})
export type ServerListQuery = Static<typeof serverListQuery>

const parameters = Type.Object(
  { type: Type.String(), properties: Type.Object({}, { additionalProperties: true }) },
  { additionalProperties: true, description: 'JSON Schema of the arguments.' },
)

export const toolSchema = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    parameters,
    approved: Type.Optional(
      Type.Object(
        { description: Type.String(), parameters },
        { description: 'The definition of a `changed` tool as it was approved before.' },
      ),
    ),
    status: Type.Enum([...toolStatuses], {
      description: 'Only `approved` tools are offered to models. Other tools wait for approval.',
    }),
    hash: Type.String({ description: "Hash of the tool's definition on the server. Approvals refer to it." }),
  },
  { title: 'McpTool' },
)
export type McpTool = Static<typeof toolSchema>

export const toolListQuery = Type.Object({
  ...listParameters,
  status: filterBy(Type.Enum([...toolStatuses])),
})
export type ToolListQuery = Static<typeof toolListQuery>

export const toolListSchema = Type.Object({
  tools: Type.Array(toolSchema),
  skipped: Type.Array(Type.Object({ name: Type.String(), reason: Type.String() }), {
    description: 'Tools that the server lists now but that cannot be used.',
  }),
  meta: listMetaSchema,
})

const approvalObject = Type.Object(
  {
    tools: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({ minLength: 1, maxLength: 128 }),
          hash: Type.String({ minLength: 64, maxLength: 64 }),
        }),
        {
          maxItems: 1000,
          description: 'The tools to approve, with the hashes that were reviewed. Default: all listed tools.',
        },
      ),
    ),
  },
  { additionalProperties: false },
)
/** The body is optional. */
export type Approval = Static<typeof approvalObject> | null
export const approvalSchema = Type.Unsafe<Approval>({ ...approvalObject, type: ['object', 'null'] })

export const approvedSchema = Type.Object({
  success: Type.Boolean(),
  approved: Type.Integer({ description: 'Number of tools that this call approved.' }),
})
