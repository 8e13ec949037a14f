/** The fields of a message that events carry; its text stays in the agent's database. */
interface MessageEvent {
  agentId: string
  messageId: string
  conversationId: string
  createdAt: string
  /** The channel that a message from outside came by; absent for messages of the service itself. */
  channel?: string | undefined
  contactId?: string | undefined
}

interface ConversationEvicted {
  agentId: string
  conversationId: string
  evictedAt: string
  /** Absent unless the conversation was on a channel. */
  channel?: string | undefined
}

/** The events of this feature on the event bus. */
export interface ChatEvents {
  'message.received': MessageEvent
  'message.sent': MessageEvent
  'conversation.evicted': ConversationEvicted
}
