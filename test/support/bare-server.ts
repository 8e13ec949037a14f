/** The HTTP server without any feature, for routes that a test makes up. */
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { onTestFinished } from 'vitest'
import { systemClock } from '#platform/clock.ts'
import type { LagMeasurement } from '#platform/event-loop/measure-lag.ts'
import { requireDeclarations } from '#platform/http/access.ts'
import type { App } from '#platform/http/app.ts'
import type { RateLimits } from '#platform/http/rate-limits/rate-limit.ts'
import type { SharedCounts } from '#platform/http/rate-limits/shared-counts.ts'
import { createServer } from '#platform/http/server.ts'
import { createLog } from '#platform/logging/log.ts'
import { createMetrics } from '#platform/metrics.ts'

interface BareServerOptions {
  routes?(app: App): void | Promise<void>
  rateLimits?: Partial<RateLimits>
  sharedCounts?: SharedCounts
  trustProxy?: string[]
  timeout?: number
  bodyTimeout?: number
  startLag?: () => LagMeasurement
}

export interface BareServer {
  app: App
  /** Lines that the server has logged, parsed. */
  logged: Record<string, unknown>[]
  call(options: InjectOptions): Promise<LightMyRequestResponse>
}

const unlimited = { general: 0, chat: 0, browser: 0, bulk: 0 }

/** A server for one test, closed when the test has finished. */
export async function bareServer(options: BareServerOptions = {}): Promise<BareServer> {
  const logged: Record<string, unknown>[] = []
  const app = createServer({
    log: createLog('debug', { write: line => logged.push(JSON.parse(line)) }),
    clock: systemClock,
    metrics: createMetrics(),
    rateLimits: { ...unlimited, ...options.rateLimits },
    sharedCounts: options.sharedCounts,
    trustProxy: options.trustProxy ?? [],
    timeout: options.timeout,
    bodyTimeout: options.bodyTimeout,
    startLag: options.startLag,
  })
  onTestFinished(() => app.close())
  requireDeclarations(app)
  await options.routes?.(app)
  await app.ready()
  return { app, logged, call: request => app.inject(request) }
}

/** What a route without a story of its own declares. */
export const plainRoute = { area: 'generic', access: 'open', limit: 'general' } as const
