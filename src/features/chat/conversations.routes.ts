import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  conversationListQuery,
  conversationSchema,
  createdConversationSchema,
  deletedSchema,
  messageListQuery,
  messageListSchema,
  newConversationSchema,
} from './chat.schema.ts'
import type { ConversationStarts } from './conversation-starts.ts'
import type { ConversationsService } from './conversations.service.ts'
import { sightOf } from './reach.ts'

export function registerConversationRoutes(
  app: App,
  conversations: ConversationsService,
  starts: ConversationStarts,
): void {
  const routes = routesBelow(app, '/api/agents/:id/chat/conversations', 'Chat', 'chat')

  routes.list('', {
    name: 'listConversations',
    summary: 'List conversations, the latest first',
    description: 'Those on a messaging channel are listed only where `channel` or `created_by` is given.',
    query: conversationListQuery,
    rows: 'conversations',
    of: conversationSchema,
    chat: true,
    handle: request => conversations.list(request.agent.db, request.query, sightOf(request)),
  })
  routes.create('', {
    name: 'createConversation',
    audit: 'exempt',
    summary: 'Create a conversation',
    access: 'chatter',
    body: newConversationSchema,
    answer: createdConversationSchema,
    chat: true,
    handle: ({ agent, body, author }) => starts.create(agent, body.title, author),
  })
  routes.delete('/:conversationId', {
    name: 'deleteConversation',
    summary: 'Delete a conversation with its messages',
    answer: deletedSchema,
    handle: async ({ agent, params }) => ({
      success: true,
      deleted: await conversations.remove(agent, params.conversationId),
    }),
  })
}

export function registerMessageRoutes(app: App, conversations: ConversationsService): void {
  const routes = routesBelow(app, '/api/agents/:id/chat', 'Chat', 'chat')

  routes.get('', {
    name: 'listMessages',
    summary: 'List messages, the oldest first',
    query: messageListQuery,
    answer: messageListSchema,
    chat: true,
    async handle(request) {
      const { rows, meta } = await conversations.messages(request.agent, request.query, sightOf(request))
      return { messages: rows, meta }
    },
  })
  routes.delete('', {
    name: 'deleteMessages',
    summary: 'Delete the messages of one or all conversations',
    limit: 'bulk',
    query: Type.Object({
      conversationId: Type.Optional(Type.String({ description: 'The conversation; default: all.' })),
    }),
    answer: deletedSchema,
    handle: async ({ agent, query }) => ({
      success: true,
      deleted: await conversations.clear(agent, query.conversationId),
    }),
  })
  routes.remove('/messages/:messageId', {
    name: 'deleteMessage',
    summary: 'Delete a message',
    handle: ({ agent, params }) => conversations.removeMessage(agent, params.messageId),
  })
}
