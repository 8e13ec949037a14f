import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { acceptForms, readForm } from '#platform/http/requests/multipart.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import type { CrawlsService } from './crawls.service.ts'
import type { FetchedSourcesService } from './fetched-sources.service.ts'
import { readNewFetched } from './fetching/new-fetched.ts'
import { newFetchedSchema } from './new-fetched.schema.ts'
import type { Source } from './sources.schema.ts'
import {
  createdCrawlSchema,
  createdSourceSchema,
  newCrawlSchema,
  reprocessedSourceSchema,
  sourceListQuery,
  sourceListSchema,
  sourceSchema,
  uploadForm,
} from './sources.schema.ts'
import type { SourcesService } from './sources.service.ts'
import { requireDocument } from './sources.service.ts'

const agentPath = Type.Object({ id: Type.String() })
const sourcePath = Type.Object({ id: Type.String(), sourceId: Type.String() })

interface Dependencies {
  sources: SourcesService
  crawls: CrawlsService
  fetched: FetchedSourcesService
  maxUploadBytes: number
}

export function registerSourceRoutes(app: App, needs: Dependencies): void {
  registerReading(app, needs)
  registerChanging(app, needs)
  registerCrawl(app, needs)
  // A scope of its own, so that every other route keeps refusing forms.
  void app.register((scope, _options, done) => {
    acceptForms(scope)
    registerNew(scope, needs)
    done()
  })
}

function registerReading(app: App, { sources }: Dependencies): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/sources',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'listSources' },
    schema: {
      summary: 'What the agent answers from',
      tags: ['Sources'],
      params: agentPath,
      querystring: sourceListQuery,
      response: { 200: sourceListSchema },
    },
    handler: async request => {
      const { rows, meta } = await sources.list(request.agent, request.query)
      return { sources: rows, meta }
    },
  })

  app.route({
    method: 'GET',
    url: '/api/agents/:id/sources/:sourceId',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'getSource' },
    schema: {
      summary: 'A source and how far its processing has come',
      tags: ['Sources'],
      params: sourcePath,
      response: { 200: sourceSchema },
    },
    handler: request => sources.find(request.agent, request.params.sourceId),
  })
}

function registerNew(scope: App, needs: Dependencies): void {
  scope.route({
    method: 'POST',
    url: '/api/agents/:id/sources',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'createSource' },
    schema: {
      summary:
        'Upload a document (a form), or name a query or an address to be fetched (JSON); processing follows',
      tags: ['Sources'],
      consumes: ['multipart/form-data'],
      form: uploadForm,
      json: newFetchedSchema,
      params: agentPath,
      response: { 201: createdSourceSchema },
    },
    handler: async (request, reply) => {
      const { agent } = request
      if (request.isMultipart()) return reply.code(201).send(await upload(request, needs))
      if (!isJson(request)) throw new AppError('UNSUPPORTED_MEDIA_TYPE', eitherType)
      const given = readNewFetched(request)
      const source =
        given.type === 'database'
          ? await needs.fetched.createDatabase(agent, given, clientSignal(reply))
          : await needs.fetched.createApi(agent, given)
      return reply.code(201).send(source)
    },
  })
}

const eitherType =
  'Send a file as multipart/form-data, or a source of type "database" or "api" as application/json.'

function isJson({ headers }: FastifyRequest): boolean {
  return headers['content-type']?.toLowerCase().startsWith('application/json') ?? false
}

async function upload(request: FastifyRequest, { sources, maxUploadBytes }: Dependencies): Promise<Source> {
  const target = sources.beginUpload(request.agent)
  const form = await readForm(request, {
    file: target,
    maxBytes: maxUploadBytes,
    acceptName: requireDocument,
    signal: request.agent.signal,
  })
  return await sources.create(request.agent, target, form)
}

function registerCrawl(app: App, { crawls }: Dependencies): void {
  app.route({
    method: 'POST',
    url: '/api/agents/:id/sources/crawl',
    config: { area: 'generic', access: 'admin', limit: 'bulk', operationId: 'crawlWebsite' },
    schema: {
      summary: 'Crawl a website, breadth first; its pages become a source',
      tags: ['Sources'],
      params: agentPath,
      body: newCrawlSchema(crawls.bounds),
      response: { 201: createdCrawlSchema },
    },
    handler: async (request, reply) => reply.code(201).send(await crawls.create(request.agent, request.body)),
  })
}

function registerChanging(app: App, { sources, crawls }: Dependencies): void {
  app.route({
    method: 'DELETE',
    url: '/api/agents/:id/sources/:sourceId',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'deleteSource' },
    schema: {
      summary: 'Delete a source with all that was found in it',
      tags: ['Sources'],
      params: sourcePath,
      response: { 200: successSchema },
    },
    handler: async request => {
      await sources.remove(request.agent, request.params.sourceId)
      return { success: true }
    },
  })

  const reprocessing = { tags: ['Sources'], params: sourcePath, response: { 200: reprocessedSourceSchema } }

  app.route({
    method: 'POST',
    url: '/api/agents/:id/sources/:sourceId/reindex',
    config: { area: 'generic', access: 'admin', limit: 'bulk', operationId: 'reindexSource' },
    schema: {
      ...reprocessing,
      summary: 'Process a source anew, or crawl a website again; it stays searchable',
    },
    handler: async request => {
      const { agent, params } = request
      const { type } = await sources.find(agent, params.sourceId)
      return type === 'crawl'
        ? reprocessed(await crawls.repeat(agent, params.sourceId), 'The website is being crawled again.')
        : reprocessed(await sources.refresh(agent, params.sourceId), 'The source is being processed anew.')
    },
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/sources/:sourceId/refresh',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'refreshSource' },
    schema: { ...reprocessing, summary: 'Process a source anew; it stays searchable meanwhile' },
    handler: async ({ agent, params }) =>
      reprocessed(await sources.refresh(agent, params.sourceId), 'The source is being processed anew.'),
  })
}

function reprocessed({ id, type, status }: Source, message: string) {
  return { id, type, status, message }
}
