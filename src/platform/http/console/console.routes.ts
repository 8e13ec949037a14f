import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../errors.ts'
import type { App } from '../app.ts'
import { sendKept } from '../responses/kept-file.ts'
import { type ConsoleFile, createConsoleFiles } from './console-files.ts'
import { startPage, startPagePolicy } from './start-page.ts'

/** Permits scripts, styles and connections of this origin alone, and no text that becomes markup. */
const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "frame-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types agentstead',
].join('; ')

/** The policy of workers, which have that of their own file: they load maps, fonts and decoders beside it. */
const assetPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'"

const permissions = 'camera=(), microphone=(), geolocation=()'
const open = { area: 'generic', access: 'open', limit: 'none' } as const

/** Addresses that people open: each responds with the console's page, which shows the view. */
const viewPaths = ['/', '/a/*', '/sign-in']
/** Files at fixed addresses; all others are in `/assets/`, and their names change with their content. */
const filePaths = ['/theme.js', '/icon.svg']
const forAYear = 'public, max-age=31536000, immutable'

interface Dependencies {
  /** The folder of the console's build. */
  folder: string
  version: string
  /** The service's public address; undefined for the one that it listens on. */
  baseUrl: string | undefined
  /** Returns true if the service can work; throws or returns false while it can't. */
  isReady(): Promise<boolean>
}

/** Serves the web console, or a page that says how to build it. */
export function registerConsoleRoutes(app: App, dependencies: Dependencies): void {
  const files = createConsoleFiles(dependencies.folder)
  const read = (path: string, { headers }: FastifyRequest) =>
    files.read(path, String(headers['accept-encoding'] ?? ''))

  for (const url of viewPaths)
    app.route({
      method: 'GET',
      url,
      config: open,
      handler: async (request, reply) => {
        const page = await read('index.html', request)
        if (page === undefined) return sendStartPage(app, reply, dependencies)
        reply.header('Content-Security-Policy', consolePolicy)
        reply.header('Cross-Origin-Opener-Policy', 'same-origin')
        reply.header('Permissions-Policy', permissions)
        return sendFile(reply, page)
      },
    })

  for (const url of [...filePaths, '/assets/*'])
    app.route({
      method: 'GET',
      url,
      config: open,
      handler: async (request, reply) => {
        const file = await read(request.url.split('?')[0]?.slice(1) ?? '', request)
        if (file === undefined) throw notFound('File')
        if (url === '/assets/*') reply.header('Content-Security-Policy', assetPolicy)
        return sendFile(reply, file, url === '/assets/*' ? forAYear : undefined)
      },
    })
}

function sendFile(reply: FastifyReply, file: ConsoleFile, cacheControl?: string): FastifyReply {
  reply.header('Vary', 'Accept-Encoding')
  if (file.encoding !== undefined) reply.header('Content-Encoding', file.encoding)
  return sendKept(reply, file, cacheControl)
}

async function sendStartPage(app: App, reply: FastifyReply, { version, baseUrl, isReady }: Dependencies) {
  const address = baseUrl ?? (app.server.listening ? app.listeningOrigin : 'http://localhost')
  const ready = await isReady().catch(() => false)
  reply.header('content-security-policy', startPagePolicy).type('text/html; charset=utf-8')
  return reply.send(startPage({ version, address, ready }))
}
