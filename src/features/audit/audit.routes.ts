import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { AccessDenied, invalid } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { limitWaiting } from '#platform/http/responses/slow-readers.ts'
import type { Scope } from './audit.repository.ts'
import type { AuditQuery } from './audit.schema.ts'
import { auditListSchema, auditQuerySchema } from './audit.schema.ts'
import type { AuditService } from './audit.service.ts'

const streamed = Type.Unsafe<Readable>(Type.String())
const common = {
  tags: ['Audit'],
  querystring: auditQuerySchema,
  response: {
    200: {
      content: {
        'application/json': { schema: auditListSchema },
        'application/x-ndjson': { schema: streamed },
        'text/csv': { schema: streamed },
      },
    },
  },
}
const limit = { area: 'generic', limit: 'general' } as const

export function registerAuditRoutes(app: App, audit: AuditService): void {
  async function answer(reply: FastifyReply, scope: Scope, query: AuditQuery) {
    const { format = 'json' } = query
    if (format === 'json')
      return await reply.type('application/json; charset=utf-8').send(await audit.list(scope, query))
    for (const field of ['limit', 'offset', 'cursor'] as const)
      if (query[field] !== undefined) throw invalid(field, 'can be used with the format json only')
    limitWaiting(reply.raw)
    return await reply
      .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8')
      .header('Content-Disposition', `attachment; filename="audit.${format}"`)
      .send(audit.export(scope, query, format))
  }

  app.route({
    method: 'GET',
    url: '/api/agents/:id/audit',
    config: { ...limit, access: 'admin', operationId: 'listAgentAudit' },
    schema: {
      ...common,
      summary: 'List who changed what of an agent',
      params: Type.Object({ id: Type.String() }),
    },
    async handler({ agent, query }, reply) {
      await audit.collect(agent)
      return await answer(reply, { agentId: agent.agentId }, query)
    },
  })
  app.route({
    method: 'GET',
    url: '/api/audit',
    config: { ...limit, access: 'user', operationId: 'listAudit' },
    schema: { ...common, summary: "List who changed what of the caller's agents" },
    handler({ caller: { user }, query }, reply) {
      if (user === undefined) throw new AccessDenied('Access denied: this needs a user.')
      return answer(reply, { email: user.email }, query)
    },
  })
}
