import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import {
  conversationListQuery,
  conversationListSchema,
  conversationSchema,
  deletedSchema,
  messageListQuery,
  messageListSchema,
  newConversationSchema,
} from './chat.schema.ts'
import type { ConversationsService } from './conversations.service.ts'

const agentPath = Type.Object({ id: Type.String() })
const conversationPath = Type.Object({ id: Type.String(), conversationId: Type.String() })

export function registerConversationRoutes(app: App, conversations: ConversationsService): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/chat/conversations',
    config: { area: 'chat', access: 'viewer', limit: 'general', operationId: 'listConversations' },
    schema: {
      summary: 'Conversations, the latest first; those on a messaging channel only if it is named',
      tags: ['Chat'],
      params: agentPath,
      querystring: conversationListQuery,
      response: { 200: conversationListSchema },
    },
    handler: async request => {
      const { rows, meta } = await conversations.list(request.agent.db, request.query)
      return { conversations: rows, meta }
    },
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/chat/conversations',
    config: { area: 'chat', access: 'chatter', limit: 'general', operationId: 'createConversation' },
    schema: {
      summary: 'Begin a conversation',
      tags: ['Chat'],
      params: agentPath,
      body: newConversationSchema,
      response: { 201: conversationSchema },
    },
    handler: async (request, reply) =>
      reply.code(201).send(await conversations.create(request.agent.db, request.body.title)),
  })

  app.route({
    method: 'DELETE',
    url: '/api/agents/:id/chat/conversations/:conversationId',
    config: { area: 'chat', access: 'admin', limit: 'general', operationId: 'deleteConversation' },
    schema: {
      summary: 'Delete a conversation with its messages',
      tags: ['Chat'],
      params: conversationPath,
      response: { 200: deletedSchema },
    },
    handler: async request => {
      const deleted = await conversations.remove(request.agent.db, request.params.conversationId)
      return { success: true, deleted }
    },
  })
}

export function registerMessageRoutes(app: App, conversations: ConversationsService): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/chat',
    config: { area: 'chat', access: 'viewer', limit: 'general', operationId: 'listMessages' },
    schema: {
      summary: 'Messages, oldest first',
      tags: ['Chat'],
      params: agentPath,
      querystring: messageListQuery,
      response: { 200: messageListSchema },
    },
    handler: async request => {
      const { rows, meta } = await conversations.messages(request.agent, request.query)
      return { messages: rows, meta }
    },
  })

  app.route({
    method: 'DELETE',
    url: '/api/agents/:id/chat',
    config: { area: 'chat', access: 'admin', limit: 'bulk', operationId: 'deleteMessages' },
    schema: {
      summary: 'Delete the messages of one conversation, or of all',
      tags: ['Chat'],
      params: agentPath,
      querystring: Type.Object({
        conversationId: Type.Optional(Type.String({ description: 'Of all conversations unless given.' })),
      }),
      response: { 200: deletedSchema },
    },
    handler: async request => {
      const deleted = await conversations.clear(request.agent.db, request.query.conversationId)
      return { success: true, deleted }
    },
  })

  app.route({
    method: 'DELETE',
    url: '/api/agents/:id/chat/messages/:messageId',
    config: { area: 'chat', access: 'admin', limit: 'general', operationId: 'deleteMessage' },
    schema: {
      summary: 'Delete a message',
      tags: ['Chat'],
      params: Type.Object({ id: Type.String(), messageId: Type.String() }),
      response: { 200: successSchema },
    },
    handler: async request => {
      await conversations.removeMessage(request.agent.db, request.params.messageId)
      return { success: true }
    },
  })
}
