/** The real service on real databases in a folder of its own, ready to be called. */
import type { InjectOptions } from 'fastify'
import { onTestFinished } from 'vitest'
import { readConfiguration } from '#configuration/configuration.ts'
import type { Environment } from '#infrastructure/environment.ts'
import { type Clock, systemClock } from '#platform/clock.ts'
import { measureLag } from '#platform/event-loop/measure-lag.ts'
import { randomIds } from '#platform/ids.ts'
import { createLog } from '#platform/logging/log.ts'
import { buildService, type Service } from '../../src/app.ts'
import { keptThreads } from './kept-threads.ts'
import { forgetStorage, storageEnvironment } from './postgres/environment.ts'
import { shareChromium } from './shared-chromium.ts'
import { makeTemporaryDirectory } from './temporary-directory.ts'

export interface Answer<Body = unknown> {
  status: number
  headers: Record<string, unknown>
  /** Parsed JSON, or the text where it is none. */
  body: Body
}

export interface TestApp {
  service: Service
  routes: Service['routes']
  /** Lines that the service has logged. */
  logged: string[]
  dataDirectory: string
  /** `Body` is what the test takes the answer's body for; nothing checks it. */
  call<Body = unknown>(method: string, path: string, options?: CallOptions): Promise<Answer<Body>>
  /** Listens on a free port of this machine; the address without a slash at its end. */
  listen(): Promise<string>
  close(): Promise<void>
}

export interface CallOptions {
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is, with the content type among the headers. */
  payload?: string | Buffer
  headers?: Record<string, string>
  /** Address that the request comes from. */
  from?: string
}

interface BuildOptions {
  /** Environment variables, over those that suit tests. */
  environment?: Record<string, string>
  clock?: Clock
  startLag?: Environment['startLag']
  consoleFolder?: string
  /** A folder that outlives the app, for tests that start it twice. */
  dataDirectory?: string
}

const forTests = {
  LOG_LEVEL: 'debug',
  RATE_LIMIT_GENERAL: '0',
  RATE_LIMIT_CHAT: '0',
  RATE_LIMIT_BROWSER: '0',
  RATE_LIMIT_BULK: '0',
}

/** To be closed by the caller; see `testApp` for one that closes itself. */
export async function buildApp({
  environment = {},
  clock = systemClock,
  dataDirectory,
  startLag = measureLag,
  consoleFolder,
}: BuildOptions = {}): Promise<TestApp> {
  const directory =
    dataDirectory === undefined ? makeTemporaryDirectory() : { path: dataDirectory, remove: () => {} }
  shareChromium(directory.path)
  const storage = await storageEnvironment(directory.path)
  const result = readConfiguration({ ...forTests, ...storage, ...environment })
  if ('problems' in result) throw new Error(result.problems.join('\n'))
  const logged: string[] = []
  const log = createLog(result.configuration.logLevel, { write: line => logged.push(line) })
  const service = await buildService(result.configuration, {
    clock,
    ids: randomIds,
    log,
    createWorkerPool: keptThreads,
    startLag,
    ...(consoleFolder === undefined ? {} : { consoleFolder }),
  })
  return {
    service,
    routes: service.routes,
    logged,
    dataDirectory: directory.path,
    call: (method, path, options) => call(service, method, path, options),
    listen: () => service.app.listen({ host: '127.0.0.1', port: 0 }),
    async close() {
      await service.close()
      if (dataDirectory === undefined) await forgetStorage(directory.path)
      directory.remove()
    },
  }
}

/** An app for one test, closed when the test has finished. */
export async function testApp(options: BuildOptions = {}): Promise<TestApp> {
  const app = await buildApp(options)
  onTestFinished(() => app.close())
  return app
}

async function call<Body>(
  service: Service,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer<Body>> {
  const { body, payload, headers, from } = options
  const response = await service.app.inject({
    method: method as NonNullable<InjectOptions['method']>,
    url: path,
    ...(headers === undefined ? {} : { headers }),
    ...(from === undefined ? {} : { remoteAddress: from }),
    ...(payload !== undefined ? { payload } : body === undefined ? {} : { payload: body as object }),
  })
  return { status: response.statusCode, headers: response.headers, body: parse(response.body) as Body }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
