import { type Static, Type } from 'typebox'
import type { ToolParameters } from '#models/tools/tool.ts'
import { invalid } from '#platform/errors.ts'
import { splitAddress } from '#platform/outbound/address-template.ts'
import { problemOf } from '#platform/schema-check.ts'
import type { SchemaProblem } from '#platform/schema-problem.ts'
import { placeholdersOf } from './calling/build-request.ts'
import { type HttpConfiguration, isImported } from './calling/http-configuration.ts'
import { parametersProblem, validateHttpConfiguration } from './calling/validate-configuration.ts'
import type { AgentTool, ToolType } from './tools.schema.ts'

const parameters = Type.Object(
  { type: Type.Literal('object'), properties: Type.Optional(Type.Record(Type.String(), Type.Unknown())) },
  { additionalProperties: true },
)

const javascriptSchema = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 200_000 }),
  parameters: Type.Optional(parameters),
})
export type JavascriptConfiguration = Static<typeof javascriptSchema>

const mcpSchema = Type.Object({
  serverId: Type.String({ minLength: 1, maxLength: 100 }),
  toolName: Type.String({ minLength: 1, maxLength: 300 }),
})
export type McpConfiguration = Static<typeof mcpSchema>

/** Parameters of a tool that does not declare any: it accepts anything. */
const anyParameters: ToolParameters = { type: 'object', properties: {}, additionalProperties: true }

/** @throws VALIDATION_ERROR for a configuration with which a tool of this type can't be called. */
export function requireConfiguration(type: ToolType, configuration: unknown): void {
  const problem = configurationProblem(type, configuration)
  if (problem === undefined) return
  throw invalid(problem.field === '' ? 'configuration' : `configuration.${problem.field}`, problem.issue)
}

function configurationProblem(type: ToolType, configuration: unknown): SchemaProblem | undefined {
  if (type === 'http') return validateHttpConfiguration(configuration)
  const mismatch = problemOf(type === 'javascript' ? javascriptSchema : mcpSchema, configuration)
  return mismatch ?? parametersProblem((configuration as { parameters?: unknown }).parameters)
}

/** The arguments as described to the model; undefined for a tool of an MCP server, which describes them itself. */
export function parametersOf({ type, configuration }: AgentTool): ToolParameters | undefined {
  if (type === 'mcp') return undefined
  const { parameters: given } = configuration as { parameters?: ToolParameters }
  if (given !== undefined) return { ...given, properties: given.properties ?? {} }
  if (type !== 'http') return anyParameters
  const http = configuration as HttpConfiguration
  // Arguments without a placeholder are also sent, in the query or as the body.
  return { ...placeholdersOf(http), additionalProperties: !isImported(http) }
}

/** Scheme, host and port that a tool of type `http` calls: its secrets are only for this service. Empty if there is none. */
export function originOf(configuration: HttpConfiguration): string {
  const address = isImported(configuration) ? configuration.baseUrl : splitAddress(configuration.url)?.origin
  return address !== undefined && URL.canParse(address) ? new URL(address).origin : ''
}
