import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { AccessDenied, invalid } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { csvLine } from '#platform/http/responses/csv.ts'
import { limitWaiting } from '#platform/http/responses/slow-readers.ts'
import type { PlatformTables } from '#storage/tables.ts'
import {
  type AuditEntry,
  type AuditQuery,
  type AuditRow,
  auditFields,
  auditListSchema,
  auditQuerySchema,
} from './audit.schema.ts'
import { listAudit, type Scope } from './audit.service.ts'
import type { PendingRows } from './pending-rows.ts'

const text = { schema: Type.Unsafe<Readable>(Type.String()) }
const content = {
  'application/json': { schema: auditListSchema },
  'application/x-ndjson': text,
  'text/csv': text,
}
const schema = { tags: ['Audit'], querystring: auditQuerySchema, response: { 200: { content } } }
const config = { area: 'generic', limit: 'general' } as const

export function registerAuditRoutes(
  app: App,
  platform: Kysely<PlatformTables>,
  { collect }: PendingRows,
): void {
  async function* lines(
    scope: Scope,
    query: AuditQuery,
    lineOf: (row: AuditRow) => string,
  ): AsyncGenerator<string> {
    for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; ) {
      const { rows, meta }: Awaited<ReturnType<typeof listAudit>> = await listAudit(platform, scope, {
        ...query,
        cursor,
        limit: 500,
      })
      yield rows.map(lineOf).join('')
      cursor = meta.next_cursor
    }
  }

  async function answer(reply: FastifyReply, scope: Scope, { format = 'json', ...query }: AuditQuery) {
    if (format === 'json') {
      const { rows, meta } = await listAudit(platform, scope, query)
      return await reply.type('application/json; charset=utf-8').send({ entries: rows.map(entryOf), meta })
    }
    for (const field of ['limit', 'offset', 'cursor'] as const)
      if (query[field] !== undefined) throw invalid(field, 'can be used with the format json only')
    limitWaiting(reply.raw)
    const isCsv = format === 'csv'
    const lineOf = (row: AuditRow) =>
      isCsv ? csvLine(auditFields.map(field => row[field] ?? '')) : `${JSON.stringify(entryOf(row))}\n`
    async function* all() {
      if (isCsv) yield `\ufeff${csvLine(auditFields)}`
      yield* lines(scope, query, lineOf)
    }
    return await reply
      .type(isCsv ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8')
      .header('Content-Disposition', `attachment; filename="audit.${format}"`)
      .send(Readable.from(all()))
  }

  app.route({
    method: 'GET',
    url: '/api/agents/:id/audit',
    config: { ...config, access: 'admin', operationId: 'listAgentAudit' },
    schema: {
      ...schema,
      summary: 'List who changed what of an agent',
      params: Type.Object({ id: Type.String() }),
    },
    async handler({ agent, query }, reply) {
      await collect(agent)
      return await answer(reply, { agentId: agent.agentId }, query)
    },
  })
  app.route({
    method: 'GET',
    url: '/api/audit',
    config: { ...config, access: 'user', operationId: 'listAudit' },
    schema: { ...schema, summary: "List who changed what of the caller's agents" },
    handler({ caller: { user }, query }, reply) {
      if (user === undefined) throw new AccessDenied('Access denied: this needs a user.')
      return answer(reply, { email: user.email }, query)
    },
  })
}

function entryOf(row: AuditRow): AuditEntry {
  return { ...row, changes: row.changes === null ? null : JSON.parse(row.changes) }
}
