import type { FastifyRequest } from 'fastify'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { Tool } from '#models/tools/tool.ts'
import type { ToolTurn } from '#models/tools/tool-turn.ts'
import { anonymous, currentActor } from '#platform/actor.ts'
import { currentChange } from '#platform/current-change.ts'
import type { App } from '#platform/http/app.ts'
import type { SignedRequests } from '#platform/http/replicas/signed-requests.ts'
import { createSignedRequests } from '#platform/http/replicas/signed-requests.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { removeAuditRows } from './audit.repository.ts'
import { registerAuditRoutes } from './audit.routes.ts'
import { createAuditService, rowJob, rowLane } from './audit.service.ts'
import type { RecordedCall, RecordingNeeds } from './recorded-change.ts'
import { RecordedChange } from './recorded-change.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set where the call leaves a row of the audit log. */
    change: RecordedChange | undefined
  }
}

export interface AuditFeature extends Feature {
  /** Has the changes that a model makes by its tools recorded, and names it as the actor in whose turn it makes them. */
  recordTool(agent: AgentHandle, tool: Tool, turn?: ToolTurn): Tool
  /** Removes the rows of a deleted agent. */
  forgetAgent(agentId: string): Promise<void>
}

const dayMs = 24 * 3_600_000
const pruningMs = 3_600_000

/** The record of who changed what. Its hooks record the calls of all routes, as these declare. */
export function createAudit(infrastructure: Infrastructure): AuditFeature {
  const { platform, lateJobs, configuration, clock, log } = infrastructure
  const lateRows = lateJobs(rowJob, rowLane)
  const needs = { platform, lateRows, clock, log }
  const audit = createAuditService(platform, lateRows)
  let pruning: NodeJS.Timeout | undefined

  async function prune(): Promise<void> {
    const oldest = new Date(clock.now() - configuration.auditKeepDays * dayMs).toISOString()
    await removeAuditRows(platform, ['created_at', oldest]).catch(error =>
      log.error({ err: error }, 'old rows of the audit log could not be removed'),
    )
  }

  return {
    recordTool: (agent, tool, turn) => ({
      ...tool,
      async execute(...given) {
        const actor = currentActor.getStore() ?? anonymous
        const change = new RecordedChange(needs, {
          ...{ agentId: agent.agentId, database: agent.db, address: null },
          actor: turn === undefined ? actor : { ...actor, kind: 'model' },
          ...{ operation: tool.name, object: null, onlyDescribed: true },
        })
        const result = await currentChange.run(change, () => tool.execute(...given))
        await change.end('done')
        return result
      },
    }),
    forgetAgent: agentId => removeAuditRows(platform, ['agent_id', agentId]),
    jobs: {
      [rowJob]: {
        lane: rowLane,
        // Rows are given up for nothing.
        maxAttempts: Number.MAX_SAFE_INTEGER,
        run: ({ agent }) => audit.collect(agent),
      },
    },
    routes(app) {
      recordRequests(app, needs, createSignedRequests(infrastructure))
      registerAuditRoutes(app, audit)
    },
    async start() {
      pruning = setInterval(prune, pruningMs).unref()
      await prune()
    },
    async stop() {
      clearInterval(pruning)
    },
  }
}

const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

function recordRequests(app: App, needs: RecordingNeeds, { isSigned }: SignedRequests): void {
  app.decorateRequest('change')
  app.addHook('preHandler', (request, _reply, done) => {
    const isExempt = readingMethods.has(request.method) || request.routeOptions.config.audit === 'exempt'
    // One that another process passes on is recorded there.
    if (isExempt || isSigned(request)) return done()
    request.change = new RecordedChange(needs, callOf(request))
    currentChange.run(request.change, done)
  })
  app.addHook('onSend', (request, { statusCode }, payload, done) => {
    const { audit } = request.routeOptions.config
    const isRefused = audit === 'refusals' && (statusCode === 401 || statusCode === 403)
    const change = request.change ?? (isRefused ? new RecordedChange(needs, callOf(request)) : undefined)
    const outcome = isRefused
      ? 'refused'
      : statusCode < 400
        ? 'done'
        : statusCode >= 500
          ? 'failed'
          : undefined
    if (change === undefined || outcome === undefined) return done(null, payload)
    change
      .end(outcome)
      .catch(error =>
        request.log.error({ err: error, requestId: request.id }, 'a row of the audit log was lost'),
      )
      .then(() => done(null, payload))
  })
}

function callOf({ routeOptions, params, query, actor, agent, ip, method }: FastifyRequest): RecordedCall {
  const { config, url = '', schema } = routeOptions
  const isOfAgent = url.startsWith('/api/agents/:id')
  const named = Object.values(params as Record<string, string>)
  // Some are deleted by a parameter of the query.
  const object =
    named[isOfAgent ? 1 : 0] ?? (method === 'DELETE' ? Object.values(query as object)[0] : undefined)
  const response = (schema?.response ?? {}) as Record<string, unknown>
  return {
    agentId: isOfAgent ? (named[0] ?? null) : null,
    database: agent?.db,
    ...{ actor, address: ip },
    operation: config.operationId ?? `${method} ${url}`,
    object: object ?? (response['201'] === undefined ? null : undefined),
    onlyDescribed: config.audit === 'described',
  }
}
