import type { Static } from 'typebox'
import type { AgentRow } from '#console/api/caller.ts'
import { get, path, post, put, remove } from '#console/api/request.ts'
import type {
  agentChangesSchema,
  agentSchema,
  createdAgentSchema,
  newAgentSchema,
  updatedAgentSchema,
} from '#features/agents/agents.schema.ts'
import type { sourceSchema } from '#features/sources/sources.schema.ts'

/** The calls of this feature. Types are those of the server's schemas, so that neither can change alone. */

export type Agent = Static<typeof agentSchema>
export type Source = Static<typeof sourceSchema>
type NewAgent = Static<typeof newAgentSchema>
type Changes = Static<typeof agentChangesSchema>

export const agentsPath = '/api/agents'
/** What a new, changed or deleted agent shows in. */
export const agentLists = [agentsPath, '/api/auth/agents']
const agentPath = (id: string) => path`/api/agents/${id}`

export const listAgents = () => get<{ agents: AgentRow[] }>(agentsPath, { sort: 'name' })
export const getAgent = (id: string) => get<Agent>(agentPath(id))
export const createAgent = (body: NewAgent) => post<Static<typeof createdAgentSchema>>(agentsPath, { body })
export const changeAgent = ({ id, ...body }: Changes & { id: string }) =>
  put<Static<typeof updatedAgentSchema>>(agentPath(id), { body })
export const deleteAgent = (id: string) => remove(agentPath(id))

export const listSources = (id: string) =>
  get<{ sources: Source[]; meta: { total: number } }>(`${agentPath(id)}/sources`, { limit: 5 })

export function uploadSource(id: string, file: File) {
  const form = new FormData()
  form.append('type', 'file')
  form.append('name', file.name.replace(/\.[^.]+$/, ''))
  form.append('file', file)
  return post<Source>(`${agentPath(id)}/sources`, { form })
}
