import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { invalid } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { takeJsonAsBytes } from '#platform/http/requests/body.ts'
import { attachment } from '#platform/http/responses/headers.ts'
import { limitWaiting } from '#platform/http/responses/slow-readers.ts'
import { createdConversationSchema, exportQuery } from '../../chat.schema.ts'
import { sightOf } from '../../reach.ts'
import type { ConversationsService } from '../conversations.service.ts'
import { conversationFileSchema } from './conversation-file.schema.ts'
import { exportJson, exportMarkdown } from './export-conversation.ts'
import type { ImportConversation } from './import-conversation.ts'

interface Dependencies {
  conversations: Pick<ConversationsService, 'find'>
  importConversation: ImportConversation
  maxUploadBytes: number
}

const limits = { area: 'chat', limit: 'bulk' } as const

/** Exports and imports conversations as files. */
export function registerTransferRoutes(app: App, needs: Dependencies): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/chat/conversations/:conversationId/export',
    config: { ...limits, access: 'viewer', operationId: 'exportConversation', chat: true },
    schema: {
      summary: 'Export a conversation as JSON or Markdown',
      tags: ['Chat'],
      params: Type.Object({ id: Type.String(), conversationId: Type.String() }),
      querystring: exportQuery,
      response: {
        200: {
          content: {
            'application/json': { schema: Type.Unsafe<Readable>(conversationFileSchema) },
            'text/markdown': { schema: Type.Unsafe<Readable>(Type.String()) },
          },
        },
      },
    },
    async handler(request, reply) {
      const { agent, params, query } = request
      const conversation = await needs.conversations.find(agent.db, params.conversationId, sightOf(request))
      const { format = 'json' } = query
      const [write, type] =
        format === 'md' ? [exportMarkdown, 'text/markdown'] : [exportJson, 'application/json']
      const name = conversation.title.replace(/[\s\p{Cc}\\/:*?"<>|]+/gu, ' ').trim() || 'conversation'
      limitWaiting(reply.raw)
      return reply
        .type(`${type}; charset=utf-8`)
        .header('content-disposition', attachment(`${name}.${format}`))
        .send(Readable.from(write(agent.db, conversation)))
    },
  })
  // A separate scope, so that other routes keep parsing JSON directly.
  void app.register((scope, _options, done) => {
    takeJsonAsBytes(scope)
    registerImport(scope, needs)
    done()
  })
}

function registerImport(scope: App, { importConversation, maxUploadBytes }: Dependencies): void {
  scope.route({
    method: 'POST',
    url: '/api/agents/:id/chat/conversations/import',
    config: { ...limits, access: 'admin', operationId: 'importConversation' },
    bodyLimit: maxUploadBytes,
    // A worker thread parses the bytes and checks them against this schema.
    validatorCompiler: () => () => true,
    schema: {
      summary: 'Import an exported conversation',
      description: 'The caller is its author. Its messages count as texts of others.',
      tags: ['Chat'],
      params: Type.Object({ id: Type.String() }),
      body: conversationFileSchema,
      response: { 201: createdConversationSchema },
    },
    async handler(request, reply) {
      const body: unknown = request.body
      if (!(body instanceof Uint8Array)) throw invalid('body', 'is missing: send what an export gave')
      const signal = AbortSignal.any([clientSignal(reply), request.agent.signal])
      return reply.code(201).send(await importConversation(request.agent, body, request.author, signal))
    },
  })
}
