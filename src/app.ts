import { fileURLToPath } from 'node:url'
import type { FastifyRequest } from 'fastify'
import type { Configuration } from '#configuration/configuration.ts'
import type { Feature } from '#features/feature.ts'
import type { Environment } from '#infrastructure/environment.ts'
import { type Infrastructure, openInfrastructure } from '#infrastructure/infrastructure.ts'
import { createEnding } from '#platform/ending.ts'
import type { EventHandler } from '#platform/event-bus.ts'
import { type DeclaredRoute, requireDeclarations } from '#platform/http/access.ts'
import type { App } from '#platform/http/app.ts'
import { registerConsoleRoutes } from '#platform/http/console/console.routes.ts'
import { refuseToStoreOnFullDisk } from '#platform/http/full-disk.ts'
import { registerOpenApi } from '#platform/http/openapi/openapi.ts'
import { registerOperationRoutes } from '#platform/http/openapi/operations.routes.ts'
import { createSignedRequests } from '#platform/http/replicas/signed-requests.ts'
import { createServer } from '#platform/http/server.ts'
import { registerWebSockets } from '#platform/http/websockets.ts'
import { eventJob, eventJobName } from '#platform/jobs/events.ts'
import { createFeatures } from './compose.ts'

/** Max times for responses, then connections, then jobs to end at closing (ms); 10 s are promised. */
const answersGraceMs = 5000
const connectionsGraceMs = 1500
const jobsGraceMs = 2000

/** The folder in which `npm ci` builds the web console. */
const builtConsole = fileURLToPath(new URL('../console/dist', import.meta.url))

export interface Service {
  app: App
  routes: readonly DeclaredRoute[]
  infrastructure: Infrastructure
  /** Returns the sign-in link of the first person; undefined if there are people, or another way in. */
  firstLink(address: string): Promise<string | undefined>
  /** Resolves once all background work that the features began at the start has caught up. */
  caughtUp: Promise<void>
  /**
   * Ends responses, requests, features, jobs and connections, in this order, within 10 s; throws the first
   * problem at the end.
   * @param reason `failing` if a job might be the reason of the end.
   */
  close(reason?: 'stopping' | 'failing'): Promise<void>
}

/** Creates infrastructure and features; nothing listens yet. On a failure, releases the data and throws. */
export async function buildService(configuration: Configuration, environment: Environment): Promise<Service> {
  const infrastructure = await openInfrastructure(configuration, environment)
  try {
    return await build(infrastructure, environment.consoleFolder ?? builtConsole)
  } catch (error) {
    const ending = createEnding(infrastructure.log)
    await ending.attempt(() => infrastructure.runner.stop(jobsGraceMs))
    await ending.attempt(() => infrastructure.close())
    throw error
  }
}

async function build(infrastructure: Infrastructure, consoleFolder: string): Promise<Service> {
  const { configuration, clock, log, startLag, disk, metrics, sharedCounts, version, runner } = infrastructure
  const { rateLimits, trustProxy, gateway, baseUrl } = configuration
  const { isSigned } = createSignedRequests(infrastructure)
  const isCounted = (request: FastifyRequest) => !isSigned(request)
  const app = createServer({
    log,
    clock,
    metrics,
    rateLimits,
    sharedCounts,
    isCounted,
    trustProxy,
    startLag,
    baseUrl,
  })
  const routes = requireDeclarations(app)
  await registerWebSockets(app)
  await registerOpenApi(app, { version, baseUrl, gatewayHeader: gateway?.header })
  refuseToStoreOnFullDisk(app, disk)
  const features = await createFeatures(infrastructure, routes)
  for (const feature of features.all) connect(feature, app, infrastructure)
  const { isReady } = features.agents.agents
  const isUsable = async () => !disk.problem && (await isReady())
  registerOperationRoutes(app, { metrics, isReady: isUsable })
  registerConsoleRoutes(app, { folder: consoleFolder, version, baseUrl, isReady: isUsable })
  await app.ready()
  await runner.start()
  const caughtUp = Promise.all(features.all.map(feature => feature.start?.())).then(() => {})
  return {
    app,
    routes,
    infrastructure,
    firstLink: features.signIn.firstLink,
    caughtUp,
    close: reason => close(app, features.all, infrastructure, reason),
  }
}

function connect(feature: Feature, app: App, { handlers, events }: Infrastructure): void {
  feature.routes?.(app)
  for (const [name, job] of Object.entries(feature.jobs ?? {})) handlers.set(name, job)
  for (const [kind, handler] of Object.entries(feature.eventHandlers ?? {}))
    handlers.set(eventJobName(kind), eventJob(handler))
  for (const [name, handle] of Object.entries(feature.subscriptions ?? {}))
    events.on(name, handle as EventHandler<unknown>)
}

async function close(
  app: App,
  features: readonly Feature[],
  infrastructure: Infrastructure,
  reason?: 'stopping' | 'failing',
): Promise<void> {
  const { attempt, finish } = createEnding(infrastructure.log)
  const closed = attempt(() => app.close())
  // A client that still sends or reads after the end of the last response is too slow to wait for.
  const timeout = setTimeout(() => app.server.closeAllConnections(), answersGraceMs + connectionsGraceMs)
  // A client can keep a connection open after its response.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 100)
  await Promise.all(features.map(feature => attempt(() => feature.drain?.(answersGraceMs))))
  await closed
  clearTimeout(timeout)
  clearInterval(sweep)
  for (const feature of features.toReversed()) await attempt(() => feature.stop?.())
  await attempt(() => infrastructure.runner.stop(jobsGraceMs, reason))
  await attempt(() => infrastructure.close())
  finish()
}
