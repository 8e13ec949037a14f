import { randomBytes } from 'node:crypto'
import { fastify } from 'fastify'
import { type KeptFile, keepFile } from '../responses/kept-file.ts'

/** Disables links to services of the page's vendor, and features for a developer's machine. */
const withoutOffers = {
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
} as const

/** One file of the page. */
export interface ReferenceFile extends KeptFile {
  /** Sources that the page may load: itself and this server only. */
  contentSecurityPolicy: string
}

/**
 * Creates the page that shows the OpenAPI document, served from this machine alone: no fonts, scripts or
 * telemetry from elsewhere. Its library, some megabytes, is loaded when the page is first opened.
 */
export function createApiReference(prefix: `/${string}`, documentUrl: string) {
  const nonce = randomBytes(16).toString('base64')
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
  const paths = [`${prefix}/`, `${prefix}/js/scalar.js`]
  /** The written files, of some megabytes: writing them for each request would delay other requests. */
  const files = new Map<string, ReferenceFile>()
  let opened: ReturnType<typeof open> | undefined

  async function open() {
    const { default: reference } = await import('@scalar/fastify-api-reference')
    // This server never listens: its routes stay out of ours, where every route declares its access.
    const server = fastify()
    const looks = { pageTitle: 'agentstead API', withDefaultFonts: false, ...withoutOffers }
    const configuration = { url: documentUrl, ...looks, telemetry: false, nonce }
    await server.register(reference, { routePrefix: prefix, configuration })
    return server
  }

  async function write(path: string): Promise<ReferenceFile> {
    opened ??= open()
    const { headers, rawPayload: body } = await (await opened).inject(path)
    const file = { ...keepFile(String(headers['content-type']), body), contentSecurityPolicy }
    files.set(path, file)
    return file
  }

  return {
    /** Reads a file. `path` begins with the prefix; undefined for other paths of the page. */
    async read(path: string): Promise<ReferenceFile | undefined> {
      return files.get(path) ?? (paths.includes(path) ? await write(path) : undefined)
    },
  }
}
