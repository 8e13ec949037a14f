import type { Static } from 'typebox'
import { type ApiRequest, addressOf, exact, get, path, post, put, remove } from '#console/api/request.ts'
import type { Agent } from '#console/shell/agent.tsx'
import type { Approval, decidedSchema } from '#features/chat/approvals.schema.ts'
import type {
  Attachment,
  acceptedSchema,
  ChatMessage,
  Conversation,
  createdConversationSchema,
  FeedbackChange,
  modelSchema,
  NewMessage,
} from '#features/chat/chat.schema.ts'
import type { ChatFile } from '#features/chat/files/chat-files.schema.ts'
import type { CurrentTurn, currentTurnSchema, StoppedTurn } from '#features/chat/turns.schema.ts'
import type { attentionSchema } from '#features/overview/overview.schema.ts'

export type Message = ChatMessage
export type Passage = NonNullable<NonNullable<Message['metadata']>['passages']>[number]
export type ToolCall = NonNullable<Message['toolCalls']>[number]
export type ToolResult = NonNullable<Message['toolResults']>[number]
/** The reason why a turn waits. */
export type Waiting = NonNullable<CurrentTurn['waiting']>
export type { Approval, Attachment, ChatFile, Conversation, CurrentTurn, FeedbackChange }

/** Returns the path of an agent's chat, the prefix of its conversations, messages and models. */
export const chatOf = (agent: Pick<Agent, 'api'>) => `${agent.api}/chat`

/** Number of a conversation's messages that are fetched at once. */
const pageSize = 50

export interface ConversationFilters {
  search?: string | undefined
  channel?: string | undefined
  created_by?: string | undefined
}

export const listConversations = (chat: string, filters: ConversationFilters = {}) =>
  get<{ conversations: Conversation[] }>(`${chat}/conversations`, { ...filters })
export const conversationPath = (chat: string, id: string) => `${chat}/conversations/${path`${id}`}`
export const renameConversation = (chat: string, id: string) => (title: string) =>
  put<Conversation>(conversationPath(chat, id), { body: { title } })
/** Returns the download address of a conversation. */
export const exportOf = (chat: string, id: string, format: 'md' | 'json') =>
  addressOf(get(`${conversationPath(chat, id)}/export`, { format }))
export const importConversation = (chat: string, body: unknown) =>
  post<Static<typeof createdConversationSchema>>(`${chat}/conversations/import`, { body })
export const rateMessage = (chat: string, id: string) => (body: FeedbackChange) =>
  put<Message>(`${chat}/messages/${path`${id}`}/feedback`, { body })
export const deleteConversation = (chat: string, id: string) => remove(conversationPath(chat, id))

export const listMessages = (chat: string, conversationId: string, before?: string) =>
  get<{ messages: Message[]; meta: { hasMore: boolean } }>(chat, { conversationId, limit: pageSize, before })

export const listModels = (chat: string) =>
  get<{ models: Static<typeof modelSchema>[] }>(`${chat}/models`, { limit: 1000 })

type Fields =
  | 'content'
  | 'conversationId'
  | 'model'
  | 'enableTools'
  | 'autoRag'
  | 'attachments'
  | 'cancel_waiting'
export type Question = Pick<NewMessage, Fields>

export type Accepted = Static<typeof acceptedSchema>

/** `ask` and `answerAgain` begin a turn that outlives its request. A repeated request joins it. */
export const ask = (chat: string, question: Question) =>
  post<Accepted>(chat, { body: { ...question, ...inBackground() } })
export const answerAgain = (chat: string, messageId: string, model: string | undefined) =>
  post<Accepted>(`${chat}/messages/${path`${messageId}`}/regenerate`, { body: { model, ...inBackground() } })

const inBackground = () => ({
  background: true,
  clientMessageId: crypto.getRandomValues(new Uint32Array(4)).join('-'),
})

/** Reads the running turn of a conversation. */
export const currentTurn = (chat: string, conversationId: string) =>
  exact(get<Static<typeof currentTurnSchema>>(`${conversationPath(chat, conversationId)}/turn`))
const turnPath = (chat: string, turnId: string) => `${chat}/turns/${path`${turnId}`}`
/** Streams the events after the event `after`. */
export const turnEvents = (chat: string, turnId: string, after: string | undefined) =>
  get(`${turnPath(chat, turnId)}/events`, { after })
export const stopTurn = (chat: string, turnId: string) => post<StoppedTurn>(`${turnPath(chat, turnId)}/stop`)

export const filePath = (chat: string, id: string) => `${chat}/files/${path`${id}`}`
/** The key of a file's bytes, which no change of the chat changes. */
export const fileKey = (chat: string, id: string) => ['file', filePath(chat, id)]
export const removeFile = (chat: string, id: string) => remove(filePath(chat, id))
export function addFile(chat: string, file: File): ApiRequest<ChatFile> {
  const form = new FormData()
  form.append('file', file)
  return post(`${chat}/files`, { form })
}

/** Reads the items that wait for a person, which the frame counts. */
export const getAttention = (agent: Pick<Agent, 'api'>) =>
  get<Static<typeof attentionSchema>>(`${agent.api}/attention`)

export const approvalsPath = (chat: string) => `${chat}/approvals`
export const listApprovals = (chat: string) =>
  exact(get<{ approvals: Approval[] }>(approvalsPath(chat), { status: 'pending', limit: 1000 }))
export const decideApproval =
  (chat: string, toolCallId: string) =>
  (approved: boolean): ApiRequest<Static<typeof decidedSchema>> =>
    post(`${approvalsPath(chat)}/${path`${toolCallId}`}`, { body: { approved } })
