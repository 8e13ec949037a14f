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
import type { CredentialName, settingsAnswerSchema } from '#features/agents/settings.schema.ts'
import type { Contact } from '#features/contacts/contacts.schema.ts'
import type { sourceSchema } from '#features/sources/sources.schema.ts'

/** The calls of this feature. Their types come from the server's schemas, so neither can change alone. */

export type Agent = Static<typeof agentSchema>
export type Source = Static<typeof sourceSchema>
type NewAgent = Static<typeof newAgentSchema>
type Changes = Static<typeof agentChangesSchema>

export const agentsPath = '/api/agents'
/** Paths of lists that show a new, changed or deleted agent. */
export const agentLists = [agentsPath, '/api/auth/agents']
const agentPath = (id: string) => path`/api/agents/${id}`

export const listAgents = () => get<{ agents: AgentRow[] }>(agentsPath, { sort: 'name' })
export const getAgent = (id: string) => get<Agent>(agentPath(id))
export const createAgent = (body: NewAgent) => post<Static<typeof createdAgentSchema>>(agentsPath, { body })
export const changeAgent = ({ id, ...body }: Changes & { id: string }) =>
  put<Static<typeof updatedAgentSchema>>(agentPath(id), { body })
export const deleteAgent = (id: string) => remove(agentPath(id))

export type Settings = Static<typeof settingsAnswerSchema>
export const settingsPath = (id: string) => `${agentPath(id)}/settings`
export const getSettings = (id: string) => get<Settings>(settingsPath(id))
export const getContact = (id: string, contact: string) =>
  get<Contact>(`${agentPath(id)}${path`/contacts/${contact}`}`)
export const findContacts = (id: string, search: string) =>
  get<{ contacts: Contact[] }>(`${agentPath(id)}/contacts`, { search, limit: 20 })
export const changeSettings = (id: string) => (body: object) =>
  put<Settings>(settingsPath(id), { body, secrets: credentials })

/** Names of the credentials, in the order of their list. */
export const credentials = [
  ...(['openai_api_key', 'anthropic_api_key', 'google_api_key', 'openai_compatible_api_key'] as const),
  ...(['telegram_bot_token', 'whatsapp_access_token', 'whatsapp_phone_number_id'] as const),
  ...(['whatsapp_app_secret', 'whatsapp_verify_token', 'smtp_url'] as const),
  ...(['provider_api_key', 'provider_webhook_secret', 'x402_wallet_key'] as const),
] satisfies CredentialName[]

export const listSources = (id: string) =>
  get<{ sources: Source[]; meta: { total: number } }>(`${agentPath(id)}/sources`, { limit: 5 })

export function uploadSource(id: string, file: File) {
  const form = new FormData()
  form.append('type', 'file')
  form.append('name', file.name.replace(/\.[^.]+$/, ''))
  form.append('file', file)
  return post<Source>(`${agentPath(id)}/sources`, { form })
}
