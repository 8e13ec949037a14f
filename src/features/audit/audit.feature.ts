import type { FastifyRequest } from 'fastify'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { Tool } from '#models/tools/tool.ts'
import { type Actor, anonymous, currentActor } from '#platform/actor.ts'
import { currentChange } from '#platform/current-change.ts'
import type { App } from '#platform/http/app.ts'
import { createSignedRequests } from '#platform/http/replicas/signed-requests.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { registerAuditRoutes } from './audit.routes.ts'
import { removeAuditRows } from './audit.service.ts'
import { createPendingRows, rowJob, rowLane } from './pending-rows.ts'
import { type RecordedCall, type RecordedChange, recordChange } from './recorded-change.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the call leaves a row of the audit log. */
    change: RecordedChange | undefined
  }
}

export interface AuditFeature extends Feature {
  /** Records the changes that a tool makes: by a model, in the turn of an actor, or by the caller itself. */
  recordTool(agent: AgentHandle, tool: Tool, isInTurn: boolean): Tool
  /** Records a change that is no call of a route. `address` is the actor's IP address, if known. */
  recordWork: RecordWork
}

export type RecordWork = <Result>(
  agent: Pick<AgentHandle, 'agentId' | 'db'>,
  call: { actor: Actor; operation: string; object: string | null; address?: string | null },
  work: () => Promise<Result>,
  onlyDescribed?: boolean,
) => Promise<Result>

const hourMs = 3_600_000

/** The record of all changes and their actors. Its hooks record the calls of all routes, as declared. */
export function createAudit(infrastructure: Infrastructure): AuditFeature {
  const { platform, configuration, clock, log } = infrastructure
  const rows = createPendingRows(infrastructure)
  const record = (call: RecordedCall) => recordChange({ platform, rows, clock }, call)
  let pruning: NodeJS.Timeout | undefined

  async function prune(): Promise<void> {
    const oldest = new Date(clock.now() - configuration.auditKeepDays * 24 * hourMs).toISOString()
    const failed = (error: unknown) =>
      log.error({ err: error }, 'old rows of the audit log could not be removed')
    await removeAuditRows(platform, ['created_at', '<', oldest]).catch(failed)
  }

  const recordWork: RecordWork = async (agent, { actor, address = null, ...named }, work, onlyDescribed) => {
    const call = { agent_id: agent.agentId, address, ...named }
    const change = record({ actor, call, database: agent.db, onlyDescribed: onlyDescribed ?? false })
    const result = await currentChange.run(change, work)
    await change.end('done')
    return result
  }

  return {
    recordWork,
    recordTool: (agent, tool, isInTurn) => ({
      ...tool,
      async execute(...givenArguments) {
        const actor = {
          ...(currentActor.getStore() ?? anonymous),
          ...(isInTurn && { kind: 'model' as const }),
        }
        const call = { actor, operation: tool.name, object: null }
        return await recordWork(agent, call, () => tool.execute(...givenArguments), true)
      },
    }),
    jobs: {
      [rowJob]: {
        lane: rowLane,
        maxAttempts: Number.MAX_SAFE_INTEGER,
        run: ({ agent }) => rows.collect(agent),
      },
    },
    routes(app) {
      recordRequests(app, record, createSignedRequests(infrastructure).isSigned)
      registerAuditRoutes(app, platform, rows)
    },
    async start() {
      pruning = setInterval(prune, hourMs).unref()
      await prune()
    },
    stop: async () => clearInterval(pruning),
  }
}

const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** @param isRecordedElsewhere returns true if another process has forwarded the request. */
function recordRequests(
  app: App,
  record: (call: RecordedCall) => RecordedChange,
  isRecordedElsewhere: (request: FastifyRequest) => boolean,
): void {
  app.decorateRequest('change')
  app.addHook('preHandler', (request, _reply, done) => {
    const { audit: kept } = request.routeOptions.config
    const isExempt = (readingMethods.has(request.method) && kept !== 'described') || kept === 'exempt'
    if (isExempt || isRecordedElsewhere(request)) return done()
    request.change = record(callOf(request))
    currentChange.run(request.change, done)
  })
  app.addHook('onSend', (request, { statusCode }, payload, done) => {
    const isRefused =
      request.routeOptions.config.audit === 'refusals' && (statusCode === 401 || statusCode === 403)
    const change = isRefused ? (request.change ?? record(callOf(request))) : request.change
    if (change === undefined || (statusCode >= 400 && statusCode < 500 && !isRefused))
      return done(null, payload)
    const lost = (error: unknown) => request.log.error({ err: error }, 'a row of the audit log was lost')
    const outcome = isRefused ? 'refused' : statusCode < 400 ? 'done' : 'failed'
    const storing = change.end(outcome)
    if (storing === undefined) return done(null, payload)
    storing.catch(lost).then(() => done(null, payload))
  })
}

function callOf(request: FastifyRequest): RecordedCall {
  const { routeOptions, params, query, agent, ip, method } = request
  const { config, url = '', schema } = routeOptions
  const isOfAgent = url.startsWith('/api/agents/:id')
  const named: string[] = Object.values(params as object)
  // Some objects are deleted by a parameter of the query.
  const object =
    named[isOfAgent ? 1 : 0] ?? (method === 'DELETE' ? Object.values(query as object)[0] : undefined)
  const makesOne = Object.hasOwn(schema?.response ?? {}, '201')
  const call = {
    agent_id: (isOfAgent && named[0]) || null,
    address: ip,
    operation: config.operationId ?? url,
  }
  return {
    // A person who signs in is known only later.
    get actor() {
      return request.actor
    },
    database: agent?.db,
    onlyDescribed: config.audit === 'described',
    call: { ...call, object: object ?? (makesOne ? undefined : null) },
  }
}
