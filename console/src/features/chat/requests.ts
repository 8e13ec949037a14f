import type { Static } from 'typebox'
import type { ApiRequest } from '#console/api/request.ts'
import { exact, get, path, post, remove } from '#console/api/request.ts'
import type { Agent } from '#console/shell/agent.tsx'
import type { Approval, decidedSchema } from '#features/chat/approvals.schema.ts'
import type { ChatMessage, Conversation, modelSchema, NewMessage } from '#features/chat/chat.schema.ts'

export type Message = ChatMessage
export type Passage = NonNullable<NonNullable<Message['metadata']>['passages']>[number]
export type ToolCall = NonNullable<Message['toolCalls']>[number]
export type ToolResult = NonNullable<Message['toolResults']>[number]
export type { Approval, Conversation }

/** The path of an agent's chat, which begins those of its conversations, messages and models. */
export const chatOf = (agent: Pick<Agent, 'api'>) => `${agent.api}/chat`

/** Messages of a conversation that are fetched at once. */
const pageSize = 50

export interface ConversationFilters {
  search?: string | undefined
  channel?: string | undefined
  created_by?: string | undefined
}

export const listConversations = (chat: string, filters: ConversationFilters = {}) =>
  get<{ conversations: Conversation[] }>(`${chat}/conversations`, { ...filters })
export const deleteConversation = (chat: string, id: string) => remove(`${chat}/conversations/${path`${id}`}`)

export const listMessages = (chat: string, conversationId: string, before?: string) =>
  get<{ messages: Message[]; meta: { hasMore: boolean } }>(chat, { conversationId, limit: pageSize, before })

export const listModels = (chat: string) =>
  get<{ models: Static<typeof modelSchema>[] }>(`${chat}/models`, { limit: 1000 })

export type Question = Pick<NewMessage, 'content' | 'conversationId' | 'model' | 'enableTools' | 'autoRag'>

/** Both are answered by a stream of events. */
export const ask = (chat: string, question: Question): ApiRequest =>
  post(chat, { body: { ...question, stream: true } })
export const answerAgain = (chat: string, messageId: string, model: string | undefined): ApiRequest =>
  post(`${chat}/messages/${path`${messageId}`}/regenerate`, { body: { model, stream: true } })

export const approvalsPath = (chat: string) => `${chat}/approvals`
export const listApprovals = (chat: string) =>
  exact(get<{ approvals: Approval[] }>(approvalsPath(chat), { status: 'pending', limit: 1000 }))
export const decideApproval =
  (chat: string, toolCallId: string) =>
  (approved: boolean): ApiRequest<Static<typeof decidedSchema>> =>
    post(`${approvalsPath(chat)}/${path`${toolCallId}`}`, { body: { approved } })
