import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError, invalid, required } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { acceptForms, readForm } from '#platform/http/requests/multipart.ts'
import { requireStorable } from '#platform/http/requests/storable-text.ts'
import { sendFile } from '#platform/http/responses/byte-range.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { maxAttachments, newMessageSchema } from '../chat.schema.ts'
import { askerOf, sightOf } from '../reach.ts'
import { type ChatFile, chatFileSchema, fileForm } from './chat-files.schema.ts'
import type { ChatFiles } from './chat-files.service.ts'

interface Dependencies {
  files: ChatFiles
  /** Max size of each file. */
  maxUploadBytes: number
}

export function registerFileRoutes(app: App, { files, maxUploadBytes }: Dependencies): void {
  const path = '/api/agents/:id/chat/files' as const
  const params = Type.Object({ id: Type.String(), fileId: Type.String() })

  // A separate scope, so that all other routes reject forms.
  void app.register((scope, _options, done) => {
    acceptForms(scope)
    scope.route({
      method: 'POST',
      url: path,
      config: {
        area: 'chat',
        access: 'chatter',
        limit: 'general',
        operationId: 'createChatFile',
        audit: 'exempt',
        chat: true,
      },
      schema: {
        summary: 'Add a file for a message',
        description: 'Its kind follows from its content. A file that is not sent within 24 hours is removed.',
        tags: ['Chat'],
        consumes: ['multipart/form-data'],
        form: fileForm,
        params: Type.Object({ id: Type.String() }),
        response: { 201: chatFileSchema },
      },
      async handler(request, reply) {
        const { received } = await readFiles(request, { files, maxUploadBytes }, 1)
        const [file] = received
        if (file === undefined) throw invalid('file', 'is required: send the file in this field of the form')
        return reply.code(201).send(file)
      },
    })
    done()
  })

  app.route({
    method: 'GET',
    url: `${path}/:fileId`,
    config: { area: 'chat', access: 'viewer', limit: 'general', operationId: 'getChatFile', chat: true },
    schema: {
      summary: 'Get a file of a message',
      description:
        'A file that is not sent yet is there for its sender only. The header `Range` names a part of it.',
      tags: ['Chat'],
      params,
      response: { 200: bytes, 206: bytes },
    },
    async handler(request, reply) {
      const { agent, author } = request
      const { id, name } = await files.find(agent, request.params.fileId, { sight: sightOf(request), author })
      const size = required(await agent.files.sizeOf(id), 'File')
      sendFile(request, reply, { name, size, read: range => agent.files.read(id, range) })
      return reply
    },
  })
  routesBelow(app, path, 'Chat', 'chat').remove('/:fileId', {
    name: 'deleteChatFile',
    summary: 'Delete a file of a message',
    description: 'Administrators delete those of all messages, others those of their own conversations.',
    access: 'chatter',
    chat: true,
    async handle(request) {
      const { reach, author } = askerOf(request)
      await files.takeBack(request.agent, request.params.fileId, { sight: reach, author })
    },
  })
}

const bytes = {
  content: {
    'application/octet-stream': { schema: Type.Unsafe<unknown>(Type.String({ format: 'binary' })) },
  },
}

/** Receives the files of a form; a rejected form leaves none. */
async function readFiles(request: FastifyRequest, { files, maxUploadBytes }: Dependencies, maxFiles: number) {
  const { agent, author } = request
  const received: ChatFile[] = []
  const { fields } = await readForm(request, {
    file: {
      store: async (content, name) =>
        void received.push(await files.receive(agent, { name, content, author })),
      discard: () => discard(received),
    },
    // One more, so that `receive` can reject the file as too large.
    maxBytes: maxUploadBytes + 1,
    maxFiles,
    acceptName(_name, field) {
      if (field !== 'file') throw invalid(field, 'is not a known file field; files belong into "file"')
    },
    signal: agent.signal,
  })
  return { fields, received }

  function discard(given: readonly ChatFile[]): Promise<void> {
    return files.discard(
      agent,
      given.map(({ id }) => id),
      author,
    )
  }
}

/** Accepts a form in place of the equal JSON on the route for messages, which is alone in its scope. */
export function acceptMessageForms(scope: App, needs: Dependencies): void {
  const receivedBy = new WeakMap<FastifyRequest, string[]>()
  acceptForms(scope)
  scope.addHook('preValidation', async request => {
    if (request.isMultipart()) {
      const { fields, received } = await readFiles(request, needs, maxAttachments)
      const ids = received.map(({ id }) => id)
      receivedBy.set(request, ids)
      request.body = { ...valuesOf(fields), ...(ids.length > 0 && { attachments: ids.map(id => ({ id })) }) }
    }
    requireContent(request)
  })
  // Files of a form that became no message are removed, but not those that its sender had uploaded before.
  scope.addHook('onError', async request => {
    await needs.files.discard(request.agent, receivedBy.get(request) ?? [], request.author)
  })
}

/** Allows blank content only with files. */
function requireContent({ body }: FastifyRequest): void {
  if (body === null || Array.isArray(body) || !['object', 'undefined'].includes(typeof body)) return
  const given = (body ?? {}) as { content?: unknown; attachments?: unknown }
  const hasFiles = Array.isArray(given.attachments) && given.attachments.length > 0
  if (hasFiles && typeof given.content === 'string' && given.content.trim() === '') delete given.content
  if (hasFiles || given.content !== undefined) return
  const issue = 'is required unless there are attachments'
  throw new AppError('VALIDATION_ERROR', `content ${issue}`, { details: { field: 'content', issue } })
}

/** Parses the fields of a form by their schemas: texts stay, others are JSON; the schema rejects invalid JSON. */
function valuesOf(fields: Readonly<Record<string, string>>): Record<string, unknown> {
  requireStorable(fields, 'body')
  const properties = newMessageSchema.properties as Record<string, { type?: unknown }>
  return Object.fromEntries(
    Object.entries(fields).map(([name, text]) => [
      name,
      properties[name]?.type === 'string' ? text : (parsed(text) ?? text),
    ]),
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
