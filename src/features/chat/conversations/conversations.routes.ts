import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  conversationChangesSchema,
  conversationListQuery,
  conversationSchema,
  createdConversationSchema,
  deletedSchema,
  feedbackChangeSchema,
  messageListQuery,
  messageListSchema,
  messageSchema,
  newConversationSchema,
} from '../chat.schema.ts'
import { askerOf, sightOf } from '../reach.ts'
import type { ConversationStarts } from './conversation-starts.ts'
import type { ConversationsService } from './conversations.service.ts'
import type { RateMessage } from './feedback.service.ts'

export function registerConversationRoutes(
  app: App,
  conversations: ConversationsService,
  starts: ConversationStarts,
): void {
  const routes = routesBelow(app, '/api/agents/:id/chat/conversations', 'Chat', 'chat')

  routes.list('', {
    name: 'listConversations',
    summary: 'List conversations, the latest first',
    description:
      '`search` looks into titles and messages. Those on a messaging channel are listed only where `channel` or `created_by` is given.',
    query: conversationListQuery,
    rows: 'conversations',
    of: conversationSchema,
    chat: true,
    handle: request => conversations.list(request.agent, request.query, sightOf(request)),
  })
  routes.create('', {
    name: 'createConversation',
    audit: 'exempt',
    summary: 'Create a conversation',
    access: 'chatter',
    body: newConversationSchema,
    answer: createdConversationSchema,
    chat: true,
    handle: ({ agent, body, author }) => starts.create(agent, body, author),
  })
  routes.update('/:conversationId', {
    name: 'updateConversation',
    summary: 'Update the title of a conversation',
    access: 'chatter',
    body: conversationChangesSchema,
    answer: conversationSchema,
    fixed: ['createdAt'],
    chat: true,
    current: request => conversations.find(request.agent.db, request.params.conversationId, sightOf(request)),
    async handle(request) {
      const { agent, params, body } = request
      return conversations.update(agent.db, params.conversationId, body, askerOf(request).reach)
    },
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

export function registerMessageRoutes(
  app: App,
  conversations: ConversationsService,
  rate: RateMessage,
): void {
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
  routes.update('/messages/:messageId/feedback', {
    name: 'rateMessage',
    audit: 'exempt',
    summary: 'Set the rating of an answer',
    access: 'chatter',
    body: feedbackChangeSchema,
    answer: messageSchema,
    chat: true,
    handle: request => rate(request.agent, request.params.messageId, request.body, askerOf(request)),
  })
  routes.remove('/messages/:messageId', {
    name: 'deleteMessage',
    summary: 'Delete a message',
    handle: ({ agent, params }) => conversations.removeMessage(agent, params.messageId),
  })
}
