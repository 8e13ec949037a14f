import { Type } from 'typebox'
import { notFound } from '../../errors.ts'
import type { Metrics } from '../../metrics.ts'
import type { App } from '../app.ts'
import { type KeptFile, keepFile, sendKept } from '../responses/kept-file.ts'
import { createApiReference } from './api-reference.ts'
import { openApiDocument } from './openapi.ts'

const open = { area: 'generic', access: 'open', limit: 'open' } as const
/** No limit: supervisors call often, and always need a response. */
const health = { ...open, limit: 'none' } as const
const statusSchema = Type.Object({ status: Type.String() })
const documentPath = '/openapi.json'
const referencePath = '/docs'

interface Dependencies {
  metrics: Metrics
  /** Returns true if the service can work; throws or returns false while it can't. */
  isReady(): Promise<boolean>
}

/** Routes for operators: health, readiness, metrics and the description of the API. */
export function registerOperationRoutes(app: App, { metrics, isReady }: Dependencies): void {
  app.route({
    method: 'GET',
    url: '/healthz',
    config: { ...health, operationId: 'isAlive' },
    schema: {
      summary: 'Check whether the process is alive',
      tags: ['Operations'],
      response: { 200: statusSchema },
    },
    handler: async () => ({ status: 'ok' }),
  })

  app.route({
    method: 'GET',
    url: '/readyz',
    config: { ...health, operationId: 'isReady' },
    schema: {
      summary: 'Check whether the service can serve requests',
      tags: ['Operations'],
      response: { 200: statusSchema, 503: statusSchema },
    },
    handler: async (request, reply) => {
      // A missing dependency is this route's result, not its error.
      const ready = await isReady().catch(error => {
        request.log.warn({ err: error, requestId: request.id }, 'not ready')
        return false
      })
      if (ready) return { status: 'ready' }
      return reply.code(503).send({ status: 'not ready' })
    },
  })

  app.route({
    method: 'GET',
    url: '/metrics',
    config: { ...open, operationId: 'readMetrics' },
    schema: {
      summary: 'Get metrics in the text format of Prometheus',
      tags: ['Operations'],
      response: { 200: { content: { 'text/plain': { schema: Type.String() } } } },
    },
    handler: async (_request, reply) =>
      reply.header('Content-Type', metrics.contentType).send(await metrics.text()),
  })

  let document: KeptFile | undefined
  app.route({
    method: 'GET',
    url: documentPath,
    config: open,
    handler: async (_request, reply) => {
      document ??= keepFile(
        'application/json; charset=utf-8',
        Buffer.from(JSON.stringify(openApiDocument(app))),
      )
      return sendKept(reply, document)
    },
  })

  registerReference(app)
}

function registerReference(app: App): void {
  const reference = createApiReference(referencePath, documentPath)
  app.route({
    method: 'GET',
    url: referencePath,
    config: open,
    handler: async (_request, reply) => reply.redirect(`${referencePath}/`),
  })
  app.route({
    method: 'GET',
    url: `${referencePath}/*`,
    config: open,
    handler: async (request, reply) => {
      const file = await reference.read(request.url.split('?')[0] ?? referencePath)
      if (file === undefined) throw notFound('Page')
      reply.header('Content-Security-Policy', file.contentSecurityPolicy)
      return sendKept(reply, file)
    },
  })
}
