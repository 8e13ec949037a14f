import type { Static } from 'typebox'
import { get, path, post } from '#console/api/request.ts'
import type { Agent } from '#console/shell/agent.tsx'
import type { TakeoverRecord } from '#features/browser/takeovers/takeovers.schema.ts'
import type { AttentionItem, AttentionKind, attentionSchema } from '#features/overview/overview.schema.ts'
import type { Transaction } from '#features/payments/ledger/ledger.schema.ts'
import type { reprocessedSourceSchema } from '#features/sources/sources.schema.ts'
import type { ExecutionSummary, Started } from '#features/workflows/workflows.schema.ts'

export type { AttentionItem, AttentionKind, Transaction }

type Attention = Static<typeof attentionSchema>

export const getAttention = (agent: Agent) => get<Attention>(`${agent.api}/attention`)

/** The number of all waiting items. */
export const countOf = (attention: Attention | undefined) =>
  attention && Object.values(attention.counts).reduce((sum, count) => sum + count, 0)

/** Paths whose queries can show the decision. */
export const changedBy = (agent: Agent) =>
  ['attention', 'chat', 'workflows', 'browser', 'payment-notifications', 'transactions', 'sources'].map(
    name => `${agent.api}/${name}`,
  )

const executionPath = (agent: Agent, { execution_id = '' }: AttentionItem) =>
  `${agent.api}/workflows/executions/${path`${execution_id}`}`
/** The item's id is `execution/node/path`. */
export const decideStep = (agent: Agent, item: AttentionItem) => (approved: boolean) => {
  const { node_id = '', id, execution_id = '' } = item
  const place = id.slice(`${execution_id}/${node_id}/`.length)
  return post(`${executionPath(agent, item)}/nodes/${path`${node_id}`}/resume`, {
    body: { approved, ...(place !== '' && { path: place }) },
  })
}
export const terminateRun = (agent: Agent, item: AttentionItem) => () =>
  post<ExecutionSummary>(`${executionPath(agent, item)}/terminate`)
export const retryRun = (agent: Agent, item: AttentionItem) => () =>
  post<Started>(`${executionPath(agent, item)}/retry`, { body: {} })

const takeoverPath = (agent: Agent, { session_id = '' }: AttentionItem) =>
  `${agent.api}/browser/${path`${session_id}`}/takeover`
export const getTakeover = (agent: Agent, item: AttentionItem) =>
  get<TakeoverRecord>(takeoverPath(agent, item))
export const endTakeover = (agent: Agent, item: AttentionItem) => () =>
  post(`${takeoverPath(agent, item)}/end`, { body: {} })

const notificationPath = (agent: Agent, { id }: AttentionItem) =>
  `${agent.api}/payment-notifications/${path`${id}`}`
export const recordPayment = (agent: Agent, item: AttentionItem) => () =>
  post(`${notificationPath(agent, item)}/record`)
export const matchPayment = (agent: Agent, item: AttentionItem) => (transaction_id: string) =>
  post(`${notificationPath(agent, item)}/match`, { body: { transaction_id } })
export const listTransactions = (agent: Agent) =>
  get<{ transactions: Transaction[] }>(`${agent.api}/transactions`, {
    type: 'inbound',
    state: ['pending', 'settled'],
    limit: 100,
  })

export const refreshSource =
  (agent: Agent, { id }: AttentionItem) =>
  () =>
    post<Static<typeof reprocessedSourceSchema>>(`${agent.api}/sources/${path`${id}`}/refresh`)
