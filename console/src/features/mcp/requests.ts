import type { Static } from 'typebox'
import { get, path, post, remove } from '#console/api/request.ts'
import type { Agent } from '#console/shell/agent.tsx'
import type {
  approvedSchema,
  McpServer,
  McpTool,
  NewServer,
  toolListSchema,
} from '#features/mcp/mcp.schema.ts'

export type { McpServer, McpTool, NewServer }
export type ToolList = Static<typeof toolListSchema>

/** The service reads at most this many tools of a server. */
const maxTools = 1000

export const serversPath = (agent: Agent) => `${agent.api}/mcp`
const serverPath = (agent: Agent, id: string) => `${serversPath(agent)}/${path`${id}`}`

export const listServers = (agent: Agent) =>
  get<{ servers: McpServer[] }>(serversPath(agent), { sort: 'name' })
export const getServer = (agent: Agent, id: string) => get<McpServer>(serverPath(agent, id))
export const listTools = (agent: Agent, id: string) =>
  get<ToolList>(`${serverPath(agent, id)}/tools`, { limit: maxTools })
export const registerServer = (agent: Agent) => (body: NewServer) =>
  post<McpServer>(serversPath(agent), { body, secrets: ['token'] })
/** Approves the definitions that the person has seen: the service refuses if one has changed since. */
export const approveTools = (agent: Agent, id: string) => (tools: readonly McpTool[]) =>
  post<Static<typeof approvedSchema>>(`${serverPath(agent, id)}/approve`, {
    body: { tools: tools.map(({ name, hash }) => ({ name, hash })) },
  })
export const deleteServer = (agent: Agent) => (id: string) => remove(serversPath(agent), { id })
