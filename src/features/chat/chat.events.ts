/** What an event says of a message; its text stays in the agent's database. */
interface MessageEvent {
  agentId: string
  messageId: string
  conversationId: string
  createdAt: string
  /** Where somebody wrote from outside; absent for what was said here. */
  channel?: string | undefined
  contactId?: string | undefined
}

/** The events of this feature on the event bus. */
export interface ChatEvents {
  'message.received': MessageEvent
  'message.sent': MessageEvent
}
