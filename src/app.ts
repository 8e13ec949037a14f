import { createModels } from '#models/models.ts'
import type { DeclaredRoute } from '#platform/http/access.ts'
import { requireDeclarations } from '#platform/http/access.ts'
import type { App } from '#platform/http/app.ts'
import { refuseToStoreOnFullDisk } from '#platform/http/full-disk.ts'
import { registerOpenApi } from '#platform/http/openapi/openapi.ts'
import { registerOperationRoutes } from '#platform/http/openapi/operations.routes.ts'
import { createServer } from '#platform/http/server.ts'
import { createMetrics } from '#platform/metrics.ts'
import manifest from '../package.json' with { type: 'json' }
import { composeAgents } from './composition/agents.ts'
import { composeChat } from './composition/chat.ts'
import { composeEmbeddings, localEmbeddings } from './composition/embeddings.ts'
import type { Foundation } from './composition/foundation.ts'
import { openFoundation } from './composition/foundation.ts'
import { composeMcp } from './composition/mcp.ts'
import { composeMcpEndpoint } from './composition/mcp-endpoint.ts'
import { createModelTools } from './composition/model-tools.ts'
import { composeSources } from './composition/sources.ts'
import { composeSql } from './composition/sql.ts'
import type { Surroundings } from './composition/surroundings.ts'
import { composeTools } from './composition/tools.ts'
import type { Configuration } from './config.ts'

/**
 * How long answers, then open connections, then jobs may take to end when the service closes, in milliseconds; 10 s are
 * promised.
 */
const answersGraceMs = 5000
const connectionsGraceMs = 1500
const jobsGraceMs = 2000

export interface Service {
  app: App
  routes: readonly DeclaredRoute[]
  foundation: Foundation
  /** Resolves once all that a changed embedding of the platform entails has been started, in the background. */
  embeddingsFollowed: Promise<void>
  /** Ends answers, requests, jobs and connections, in this order, within 10 s. */
  close(): Promise<void>
}

/** Makes every part of the service once, by hand, and puts them together; nothing listens yet. */
export async function buildService(
  configuration: Configuration,
  surroundings: Surroundings,
): Promise<Service> {
  const { clock, log } = surroundings
  const foundation = await openFoundation(configuration, surroundings)
  const metrics = createMetrics()
  const { rateLimits, trustProxy, gateway, baseUrl } = configuration
  const { sharedCounts } = foundation
  const app = createServer({ log, clock, metrics, rateLimits, sharedCounts, trustProxy })
  const routes = requireDeclarations(app)
  await registerOpenApi(app, { version: manifest.version, baseUrl, gatewayHeader: gateway?.header })
  refuseToStoreOnFullDisk(app, foundation.disk)
  const models = createModels({
    configuration: configuration.models,
    local: localEmbeddings(configuration, foundation),
    outboundFetch: foundation.outbound.fetchFunction(),
    trustedFetch: fetch,
    clock,
    log,
  })
  const needs = { configuration, foundation, surroundings, models, metrics }
  const { agents, settings, callerSignal } = await composeAgents(app, needs)
  const { disk } = foundation
  registerOperationRoutes(app, { metrics, isReady: async () => !disk.problem && (await agents.isReady()) })
  const embeddings = composeEmbeddings({ ...needs, settings })
  const sql = composeSql(app, needs)
  const knowledge = composeSources(app, { ...needs, embeddings, sql })
  const mcp = composeMcp(app, needs)
  const tools = composeTools(app, { ...needs, mcp })
  const modelTools = createModelTools({ foundation, settings, knowledge, sql, tools, mcp })
  const chat = composeChat(app, { ...needs, settings, knowledge, modelTools, callerSignal })
  composeMcpEndpoint(app, { foundation, surroundings, agents, chat, modelTools, callerSignal })
  await app.ready()
  await foundation.runner.start()
  const embeddingsFollowed = embeddings.start()

  return {
    app,
    routes,
    foundation,
    embeddingsFollowed,
    async close() {
      const closed = app.close()
      // A client that is still sending or reading after the last answer ended is too slow to wait for.
      const patience = setTimeout(() => app.server.closeAllConnections(), answersGraceMs + connectionsGraceMs)
      // A connection whose answer has ended meanwhile may be kept open by its client.
      const sweep = setInterval(() => app.server.closeIdleConnections(), 100)
      await chat.close(answersGraceMs)
      await closed
      clearTimeout(patience)
      clearInterval(sweep)
      await embeddings.stop()
      await foundation.runner.stop(jobsGraceMs)
      await mcp.close()
      await foundation.close()
    },
  }
}
