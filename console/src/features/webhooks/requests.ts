import type { Static } from 'typebox'
import { get, path, post, put, remove } from '#console/api/request.ts'
import type { Agent } from '#console/shell/agent.tsx'
import type { Delivery, Webhook, webhookWithSecretSchema } from '#features/webhooks/webhooks.schema.ts'

export type { Delivery, Webhook }

type WithSecret = Static<typeof webhookWithSecretSchema>

export const webhooksPath = ({ api }: Agent) => `${api}/webhooks`
export const webhookPath = (agent: Agent, id: string) => `${webhooksPath(agent)}${path`/${id}`}`

export const listWebhooks = (agent: Agent) => get<{ webhooks: Webhook[] }>(webhooksPath(agent))
export const getWebhook = (agent: Agent, id: string) => get<Webhook>(webhookPath(agent, id))
export const createWebhook = (agent: Agent) => (body: object) =>
  post<WithSecret>(webhooksPath(agent), { body })
export const changeWebhook = (agent: Agent, id: string) => (body: object) =>
  put<Webhook>(webhookPath(agent, id), { body })
export const deleteWebhook = (agent: Agent, id: string) => () => remove(webhookPath(agent, id))
export const replaceSecret = (agent: Agent, id: string) => () =>
  post<WithSecret>(`${webhookPath(agent, id)}/secret`)
export const testWebhook = (agent: Agent, id: string) => () =>
  post<Delivery>(`${webhookPath(agent, id)}/test`)
export const listDeliveries = (agent: Agent, id: string, status?: string) =>
  get<{ deliveries: Delivery[] }>(`${webhookPath(agent, id)}/deliveries`, { status })
export const retryDelivery = (agent: Agent, id: string) => (delivery: string) =>
  post<Delivery>(`${webhookPath(agent, id)}${path`/deliveries/${delivery}/retry`}`)
