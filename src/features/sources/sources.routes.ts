import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { documentTextSchema } from '#features/knowledge/document-text.service.ts'
import { AppError } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { acceptForms, readForm } from '#platform/http/requests/multipart.ts'
import { sendFile } from '#platform/http/responses/byte-range.ts'
import { routesBelow } from '#platform/http/routes.ts'
import type { CrawlsService } from './crawls.service.ts'
import type { FetchedSourcesService } from './fetched-sources.service.ts'
import { readNewFetched } from './fetching/new-fetched.ts'
import { newFetchedSchema } from './new-fetched.schema.ts'
import { readFile, readSourceText } from './source-contents.ts'
import {
  createdCrawlSchema,
  createdSourceSchema,
  newCrawlSchema,
  replacementForm,
  reprocessedSourceSchema,
  type Source,
  sourceListQuery,
  sourceSchema,
  textQuery,
  uploadForm,
} from './sources.schema.ts'
import type { SourcesService } from './sources.service.ts'
import { requireDocument } from './uploads.ts'

interface Dependencies {
  sources: SourcesService
  crawls: CrawlsService
  fetched: FetchedSourcesService
  maxUploadBytes: number
}

export function registerSourceRoutes(app: App, dependencies: Dependencies): void {
  registerSources(app, dependencies)
  // Forms have a scope of their own, so that all other routes refuse them.
  void app.register((scope, _options, done) => {
    acceptForms(scope)
    registerNew(scope, dependencies)
    done()
  })
}

function registerSources(app: App, { sources, crawls }: Dependencies): void {
  const routes = routesBelow(app, '/api/agents/:id/sources', 'Sources')

  routes.list('', {
    name: 'listSources',
    summary: 'List sources',
    query: sourceListQuery,
    rows: 'sources',
    of: sourceSchema,
    handle: ({ agent, query }) => sources.list(agent, query),
  })
  routes.get('/:sourceId', {
    name: 'getSource',
    summary: 'Get a source with the progress of its processing',
    answer: sourceSchema,
    handle: ({ agent, params }) => sources.find(agent, params.sourceId),
  })
  routes.get('/:sourceId/text', {
    name: 'getSourceText',
    summary: 'Get the text of a source with its passages',
    description: 'Offsets are those of passages in search results and answers.',
    query: textQuery,
    answer: documentTextSchema,
    handle: ({ agent, params, query }) => readSourceText(agent, params.sourceId, query),
  })
  routes.create('/crawl', {
    name: 'crawlWebsite',
    summary: 'Crawl a website, whose pages become a source',
    description: 'Pages are visited breadth first.',
    limit: 'bulk',
    body: newCrawlSchema(crawls.bounds),
    answer: createdCrawlSchema,
    handle: ({ agent, body }) => crawls.create(agent, body),
  })
  routes.remove('/:sourceId', {
    name: 'deleteSource',
    summary: 'Delete a source with its contents',
    handle: ({ agent, params }) => sources.remove(agent, params.sourceId),
  })
  registerFile(app)
  registerReprocessing(app, { sources, crawls })
}

const bytes = {
  content: {
    'application/octet-stream': { schema: Type.Unsafe<Readable>(Type.String({ format: 'binary' })) },
  },
}

function registerFile(app: App): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/sources/:sourceId/file',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'getSourceFile' },
    schema: {
      summary: 'Get the uploaded file of a source',
      description: 'The header `Range` names a part of it.',
      tags: ['Sources'],
      params: Type.Object({ id: Type.String(), sourceId: Type.String() }),
      response: { 200: bytes, 206: bytes },
    },
    async handler(request, reply) {
      sendFile(request, reply, await readFile(request.agent, request.params.sourceId))
      return reply
    },
  })
}

function registerReprocessing(app: App, { sources, crawls }: Pick<Dependencies, 'sources' | 'crawls'>): void {
  const routes = routesBelow(app, '/api/agents/:id/sources/:sourceId', 'Sources')

  routes.post('/reindex', {
    name: 'reindexSource',
    summary: 'Process a source again, or crawl its website again',
    description: 'It stays searchable meanwhile.',
    limit: 'bulk',
    answer: reprocessedSourceSchema,
    async handle({ agent, params }) {
      const { type } = await sources.find(agent, params.sourceId)
      return type === 'crawl'
        ? reprocessed(await crawls.repeat(agent, params.sourceId), 'The website is being crawled again.')
        : reprocessed(await sources.refresh(agent, params.sourceId), 'The source is being processed anew.')
    },
  })
  routes.post('/refresh', {
    name: 'refreshSource',
    summary: 'Process a source again',
    description: 'It stays searchable meanwhile.',
    answer: reprocessedSourceSchema,
    handle: async ({ agent, params }) =>
      reprocessed(await sources.refresh(agent, params.sourceId), 'The source is being processed anew.'),
  })
}

function reprocessed({ id, type, status }: Source, message: string) {
  return { id, type, status, message }
}

function registerNew(scope: App, dependencies: Dependencies): void {
  scope.route({
    method: 'POST',
    url: '/api/agents/:id/sources',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'createSource' },
    schema: {
      summary: 'Create a source',
      description:
        'A form uploads a document; JSON names a query or an address that the service fetches. Processing follows.',
      tags: ['Sources'],
      consumes: ['multipart/form-data'],
      form: uploadForm,
      json: newFetchedSchema,
      params: Type.Object({ id: Type.String() }),
      response: { 201: createdSourceSchema },
    },
    handler: async (request, reply) => {
      const { agent } = request
      if (request.isMultipart()) return reply.code(201).send(await upload(request, dependencies))
      if (!isJson(request)) throw new AppError('UNSUPPORTED_MEDIA_TYPE', eitherType)
      const newSource = readNewFetched(request)
      const source =
        newSource.type === 'database'
          ? await dependencies.fetched.createDatabase(agent, newSource, clientSignal(reply))
          : await dependencies.fetched.createApi(agent, newSource)
      return reply.code(201).send(source)
    },
  })
  scope.route({
    method: 'PUT',
    url: '/api/agents/:id/sources/:sourceId/file',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'replaceSourceFile' },
    schema: {
      summary: 'Replace the uploaded file of a source',
      description: 'Passages of the former file are found until those of the new one are.',
      tags: ['Sources'],
      consumes: ['multipart/form-data'],
      form: replacementForm,
      params: Type.Object({ id: Type.String(), sourceId: Type.String() }),
      response: { 200: sourceSchema },
    },
    async handler(request) {
      if (!request.isMultipart())
        throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the file as multipart/form-data.')
      const { sourceId } = request.params
      await dependencies.sources.find(request.agent, sourceId)
      return await upload(request, dependencies, sourceId)
    },
  })
}

const eitherType =
  'Send a file as multipart/form-data, or a source of type "database" or "api" as application/json.'

function isJson({ headers }: FastifyRequest): boolean {
  return headers['content-type']?.toLowerCase().startsWith('application/json') ?? false
}

/** Stores an upload. @param replaced the source that gets the file; defaults to a new one. */
async function upload(
  request: FastifyRequest,
  { sources, maxUploadBytes }: Dependencies,
  replaced?: string,
): Promise<Source> {
  const target = sources.beginUpload(request.agent)
  const form = await readForm(request, {
    file: target,
    maxBytes: maxUploadBytes,
    acceptName: requireDocument,
    signal: request.agent.signal,
  })
  return await sources.create(request.agent, target, form, replaced)
}
