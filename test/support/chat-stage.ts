/** The real service with a model server behind it, and agents to talk to. */
import type { ChatMessage } from '#features/chat/chat.schema.ts'
import { type Clock, systemClock } from '#platform/clock.ts'
import { makeAgent } from './agents.ts'
import { type Answer, buildApp, type TestApp } from './build-app.ts'
import { type ChatModel, startChatModel } from './chat-model.ts'

export interface TurnBody {
  userMessage: ChatMessage
  assistantMessage: ChatMessage
}

export interface MessageList {
  messages: ChatMessage[]
  meta: { total: number; hasMore: boolean; limit: number; offset: number; next_cursor?: string | null }
}

export interface ChatStage extends AsyncDisposable {
  app: TestApp
  model: ChatModel
  /** Makes an agent of its own, with these settings; the path of its chat. */
  makeChat(settings?: object): Promise<string>
  /** Sends a message as JSON. */
  send(path: string, body: unknown): Promise<Answer<TurnBody>>
  /** The messages of an agent, or of one of its conversations, oldest first. */
  messages(path: string, conversationId?: string): Promise<ChatMessage[]>
}

interface StageOptions {
  /** Environment variables, over those that suit tests. */
  environment?: Record<string, string>
  clock?: Clock
  /** A folder that outlives the stage. */
  dataDirectory?: string
}

/** To be closed by the caller. */
export async function setChatStage({
  environment = {},
  clock = systemClock,
  dataDirectory,
}: StageOptions = {}): Promise<ChatStage> {
  const model = await startChatModel()
  const app = await buildApp({
    environment: { ...model.environment, DEV_USER: 'dev@example.com', ...environment },
    clock,
    ...(dataDirectory === undefined ? {} : { dataDirectory }),
  })
  return {
    app,
    model,
    async makeChat(settings) {
      const id = await makeAgent(app)
      if (settings !== undefined) await app.call('PUT', `/api/agents/${id}/settings`, { body: settings })
      return `/api/agents/${id}/chat`
    },
    send: (path, body) => app.call<TurnBody>('POST', path, { body }),
    async messages(path, conversationId) {
      const of = conversationId === undefined ? '' : `&conversationId=${conversationId}`
      return (await app.call<MessageList>('GET', `${path}?limit=1000${of}`)).body.messages
    },
    async [Symbol.asyncDispose]() {
      await app.close()
      await model[Symbol.asyncDispose]()
    },
  }
}
