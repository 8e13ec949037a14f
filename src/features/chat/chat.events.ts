/** Facts about a message that others may react to; its text stays in the agent's database. */
interface MessageNews {
  agentId: string
  messageId: string
  conversationId: string
  createdAt: string
}

/** News of this feature on the event bus. */
export interface ChatEvents {
  'message.received': MessageNews
  'message.sent': MessageNews
}
