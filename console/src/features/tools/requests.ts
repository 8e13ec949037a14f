import type { Static } from 'typebox'
import { get, path, post, put, type Query, remove } from '#console/api/request.ts'
import type { Agent } from '#console/shell/agent.tsx'
import type { settingsAnswerSchema } from '#features/agents/settings.schema.ts'
import type { McpTool } from '#features/mcp/mcp.schema.ts'
import type { CredentialValues, ToolCredential } from '#features/tools/credentials.schema.ts'
import type { ImportAnswer, ImportBody } from '#features/tools/import.schema.ts'
import type {
  AgentTool,
  ListedTool,
  NewTool,
  ToolChanges,
  ToolType,
  testAnswerSchema,
} from '#features/tools/tools.schema.ts'

export type { AgentTool, ImportAnswer, ImportBody, NewTool, ToolChanges, ToolCredential, ToolType }
export type BuiltInRules = NonNullable<Static<typeof settingsAnswerSchema>['settings']['builtin_tools']>
export type { ListedTool }
export type TestAnswer = Static<typeof testAnswerSchema>

export const toolsPath = (agent: Agent) => `${agent.api}/tools`
const toolPath = (agent: Agent, id: string) => `${toolsPath(agent)}/${path`${id}`}`
const clusterPath = (agent: Agent, cluster: string) => `${toolsPath(agent)}/cluster/${path`${cluster}`}`

export const listTools = (agent: Agent, filters: Query = {}) =>
  get<{ data: AgentTool[] }>(toolsPath(agent), filters)
/** Built-in tools stand first. */
export const listBuiltIns = (agent: Agent) =>
  get<{ data: ListedTool[] }>(toolsPath(agent), { builtin: true, limit: 1 })
const settingsPath = (agent: Agent) => `${agent.api}/settings`
export const getSettings = (agent: Agent) => get<Static<typeof settingsAnswerSchema>>(settingsPath(agent))
export const changeBuiltIns = (agent: Agent) => (builtin_tools: BuiltInRules) =>
  put(settingsPath(agent), { body: { builtin_tools } })
export const getTool = (agent: Agent, id: string) => get<{ data: AgentTool }>(toolPath(agent, id))
export const createTool = (agent: Agent) => (body: NewTool) =>
  post<{ data: AgentTool }>(toolsPath(agent), { body })
export const changeTool =
  (agent: Agent) =>
  ({ id, ...body }: ToolChanges & { id: string }) =>
    put<{ data: AgentTool }>(toolPath(agent, id), { body })
export const deleteTool = (agent: Agent) => (id: string) => remove(toolsPath(agent), { id })
export const testTool = (agent: Agent, id: string) => (values: Record<string, unknown>) =>
  post<TestAnswer>(`${toolPath(agent, id)}/test`, { body: { arguments: values } })

/** Lists tools of a server whose names contain `name`: only the server describes their arguments. */
export const listServerTools = (agent: Agent, serverId: string, name: string) =>
  get<{ tools: McpTool[] }>(`${agent.api}/mcp/${path`${serverId}`}/tools`, { search: name })

export const importTools = (agent: Agent) => (body: ImportBody) =>
  post<ImportAnswer>(`${toolsPath(agent)}/import-openapi`, { body })

export const listCredentials = (agent: Agent, cluster: string) =>
  get<{ data: ToolCredential[] }>(`${clusterPath(agent, cluster)}/credentials`)
export const setCredentials = (agent: Agent, cluster: string) => (body: CredentialValues) =>
  put<{ data: ToolCredential[] }>(`${clusterPath(agent, cluster)}/credentials`, {
    body,
    secrets: [...Object.keys(body), 'password'],
  })
export const deleteCluster = (agent: Agent) => (cluster: string) => remove(clusterPath(agent, cluster))
