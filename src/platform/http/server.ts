import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import type { Clock } from '../clock.ts'
import { diskProblemIn } from '../disk.ts'
import { AppError, invalid, isSpent } from '../errors.ts'
import type { LagMeasurement } from '../event-loop/measure-lag.ts'
import type { Log } from '../logging/log.ts'
import type { Metrics } from '../metrics.ts'
import { behindFailure, isOfApi, isOfChat, isOfOpenAi } from './access.ts'
import type { App, Area } from './app.ts'
import { whenClosed } from './closing.ts'
import { answerClientError } from './errors/client-error.ts'
import { asKnownError, formatError } from './errors/error-format.ts'
import { retryAfterSeconds, shedLoad } from './load-shedding.ts'
import { beginPipelinedInTurn } from './pipelining.ts'
import { type RateLimits, registerRateLimits } from './rate-limits/rate-limit.ts'
import type { SharedCounts } from './rate-limits/shared-counts.ts'
import { jsonBodyLimit, limitBodies } from './requests/body-limits.ts'
import { jsonReader } from './requests/json-body.ts'
import { refuseUnstorableAddresses } from './requests/storable-text.ts'
import { limitUploads } from './requests/upload-limit.ts'
import { createSerializerCompiler, createValidatorCompiler } from './requests/validation.ts'
import { registerHeaders } from './responses/headers.ts'
import { writeListsInTurns } from './responses/large-lists.ts'
import { leaveSlowReaders } from './responses/slow-readers.ts'
import { endOnUncaughtErrors } from './uncaught.ts'
import { isWebSocketRequest } from './websockets.ts'

/** The status of a request that became a WebSocket. */
const switchedProtocols = 101
/** The status, in logs and metrics only, of a response whose client disconnected before its end. */
const clientGone = 499

/** Max time for a request to arrive in full, also for uploads over slow lines (ms). */
const arrivalLimitMs = 5 * 60_000

interface ServerOptions {
  log: Log
  clock: Clock
  metrics: Metrics
  rateLimits: RateLimits
  sharedCounts?: SharedCounts | undefined
  isCounted?: ((request: FastifyRequest) => boolean) | undefined
  baseUrl?: string | undefined
  /** Addresses whose `X-Forwarded-For` is believed. */
  trustProxy: string[]
  /** Max time in which a client reads nothing of a large response (ms). */
  timeout?: number | undefined
  /** How long a request may stop arriving, in milliseconds. */
  bodyTimeout?: number | undefined
  startLag?: (() => LagMeasurement) | undefined
}

/** The HTTP server without routes: request ids, CORS, security headers, rate limits, error shapes, logs and metrics. */
export function createServer(options: ServerOptions): App {
  const app: App = fastify({
    loggerInstance: options.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for every request would cost more than most requests: lines name their request themselves.
    childLoggerFactory: logger => logger,
    bodyLimit: jsonBodyLimit,
    trustProxy: options.trustProxy.length > 0 ? options.trustProxy : false,
    genReqId: requestId,
    requestTimeout: arrivalLimitMs,
    http: { shouldUpgradeCallback: isWebSocketRequest },
    routerOptions: { maxParamLength: 500 },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => treatAsUnknown(app, error, [request, reply]),
    // Ends idle keep-alive connections at once on close, while running answers finish.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  })
  app.setValidatorCompiler(createValidatorCompiler())
  app.setSerializerCompiler(createSerializerCompiler())
  endOnUncaughtErrors(app)
  acceptJsonOnly(app)
  registerErrors(app, options)
  beginPipelinedInTurn(app)
  registerObservation(app, options)
  limitUploads(app)
  limitBodies(app, options.bodyTimeout)
  // Hooks call back: async ones would cost every request a promise.
  registerHeaders(app)
  treatNoBodyAsEmpty(app)
  shedLoad(app, options)
  registerRateLimits(app, options)
  refuseSecondHost(app)
  answerBrokenOff(app)
  forgetTypeOfNoBody(app)
  refuseUnstorableAddresses(app)
  leaveSlowReaders(app, options.timeout)
  writeListsInTurns(app)
  return app
}

/** Keeps a caller's own request id if it is harmless, so that traces of several services can be joined. */
function requestId(request: { headers: Record<string, string | string[] | undefined> }): string {
  const callerId = request.headers['x-request-id']
  return typeof callerId === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(callerId) ? callerId : randomUUID()
}

/** Reads only JSON bodies by default; an empty one is no body, with any content type. */
function acceptJsonOnly(app: App): void {
  app.removeAllContentTypeParsers()
  const readJson = jsonReader(app)
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    try {
      done(null, readJson(request, String(body)))
    } catch (error) {
      done(error as Error)
    }
  })
}

/** Refuses a second host: Node takes the first, a proxy might judge by the second (RFC 9112, section 3.2). */
function refuseSecondHost(app: App): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const hosts = raw.rawHeaders.filter((name, at) => at % 2 === 0 && /^host$/i.test(name))
    if (hosts.length > 1) done(invalid('Host', 'must be sent once'))
    else done()
  })
}

function registerErrors(app: App, { baseUrl }: ServerOptions): void {
  app.setErrorHandler(async (error, request, reply) =>
    sendError(await behindFailure(error, request), request, reply),
  )
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0]
    const address = `${baseUrl ?? `${request.protocol}://${request.host}`}/api/openai/v1`
    const advice = isOfOpenAi(request.originalUrl)
      ? `The base URL for clients of OpenAI is ${address}: they append the rest, such as /chat/completions.`
      : 'See /docs.'
    const unknown = new AppError('NOT_FOUND', `There is no ${request.method} ${path}. ${advice}`)
    return sendError(unroutable.get(request.raw)?.error ?? unknown, request, reply)
  })
}

function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = diskProblemIn(thrown) ?? asKnownError(thrown)
  // Stopping the work for a disconnected client is no failure.
  const isStopped = reply.raw.destroyed && (isAbort(thrown) || thrown === request.raw.errored)
  if (error instanceof AppError && error.fault !== 'user' && !isStopped) {
    const { method } = request
    const path = loggedPath(request)
    request.log[levelOf(error)]({ err: error, requestId: request.id, method, path }, error.message)
  }
  if (error instanceof AppError && error.code === 'OVERLOADED') reply.header('Retry-After', retryAfterSeconds)
  const wait = error instanceof AppError && error.status === 429 ? error.details?.retry_after : undefined
  if (wait !== undefined) reply.header('Retry-After', String(wait))
  const area =
    request.routeOptions.config.area ?? unroutable.get(request.raw)?.area ?? areaOf(request.originalUrl)
  // Clients of OpenAI would repeat every answer with this status.
  if (area === 'openai' && isSpent(error)) reply.header('x-should-retry', 'false')
  const answer = formatError(error, area, request.id)
  // Fastify would close the connection of a client that still sends, which then never sees this response.
  if (answer.status === 413) reply.removeHeader('connection')
  return reply.code(answer.status).header('Content-Type', answer.contentType).send(answer.body)
}

/** Lost data is reported at every level of the log. */
function levelOf({ code, fault }: AppError): 'fatal' | 'error' | 'warn' {
  if (code === 'DATA_DAMAGED') return 'fatal'
  return fault === 'unexpected' ? 'error' : 'warn'
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError'
}

/** Returns the area of a path without a route. */
function areaOf(url: string): Area {
  return isOfOpenAi(url) ? 'openai' : 'generic'
}

/** Requests whose path the router can't read, with its error, and the area of their URL. */
const unroutable = new WeakMap<IncomingMessage, { error: unknown; area: Area }>()

/**
 * A path that the router can't read would meet no hook: it is treated like an unknown one, so that it counts
 * against the limit, a bad token is refused, and the log has a line.
 */
function treatAsUnknown(app: App, error: unknown, [{ raw }, reply]: [FastifyRequest, FastifyReply]): void {
  const { url = '' } = raw
  unroutable.set(raw, { error, area: isOfChat(url) ? 'chat' : areaOf(url) })
  Object.assign(raw, { originalUrl: url, url: isOfApi(url) ? '/api/%25' : '/%25' })
  app.routing(raw, reply.raw)
}

/** Treats a missing body like an empty one, so that the response names the missing field. */
function treatNoBodyAsEmpty(app: App): void {
  app.addHook('onRoute', route => {
    if (route.schema?.body === undefined) return
    route.preValidation = [
      (request, _reply, done) => {
        if (request.body === undefined) request.body = {}
        done()
      },
      ...[route.preValidation ?? []].flat(),
    ]
  })
}

/** Ignores the content type of no body: some clients always name one, such as that of a form. */
function forgetTypeOfNoBody(app: App): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { headers, server } = request
    const [type] = headers['content-type']?.split(';', 1) ?? []
    const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
    if (type !== undefined && isEmpty && !server.hasContentTypeParser(type.trim().toLowerCase()))
      delete headers['content-type']
    done(null, payload)
  })
}

/** Ends a request that broke off while hooks waited: no parser reports its end any more. */
function answerBrokenOff(app: App): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (request.raw.destroyed) done(new AppError('VALIDATION_ERROR', 'The request broke off. Send it again.'))
    else done(null, payload)
  })
}

/**
 * Logs and observes each request once, when its response has ended or its client has disconnected, which
 * `onResponse` would not report. Tokens are left out: in queries, and in the path.
 */
function registerObservation(app: App, { log, metrics }: ServerOptions): void {
  app.addHook('onRequest', (request, reply, done) => {
    whenClosed(reply, isSent => {
      const { method } = request
      const route = request.routeOptions.url ?? 'unknown'
      const unsent = request.ws ? switchedProtocols : clientGone
      const status = isSent ? reply.statusCode : unsent
      const milliseconds = reply.elapsedTime
      // The lifetime of a connection is no measure of response times.
      if (status !== switchedProtocols) metrics.observeRequest(method, route, status, milliseconds / 1000)
      if (!log.isLevelEnabled('info')) return
      log.info({ requestId: request.id, method, path: loggedPath(request), status, milliseconds }, 'request')
    })
    done()
  })
}

/** Returns the path without tokens. */
function loggedPath({ routeOptions: { url = '' }, originalUrl }: FastifyRequest): string | undefined {
  return url.includes('/:token') ? url : originalUrl.split('?')[0]
}
