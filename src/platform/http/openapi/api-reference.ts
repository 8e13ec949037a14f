import { randomBytes } from 'node:crypto'
import { fastify } from 'fastify'
import type { KeptFile } from '../responses/kept-file.ts'
import { keepFile } from '../responses/kept-file.ts'

/** Turns off the links to services of the page's vendor, and what is shown on a developer's machine only. */
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
 * The page that shows the OpenAPI document, served from this machine alone: no fonts, scripts or telemetry from
 * elsewhere. Its library, some megabytes, is loaded when the page is first opened.
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
  /** Kept, as they are megabytes: writing them for each request would keep the others waiting. */
  const files = new Map<string, ReferenceFile>()
  let opened: ReturnType<typeof open> | undefined

  async function open() {
    const { default: reference } = await import('@scalar/fastify-api-reference')
    // A server of its own, never listening: its routes stay out of ours, where every route declares its access.
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
    /** `path` begins with the prefix; undefined for what is no part of the page. */
    async read(path: string): Promise<ReferenceFile | undefined> {
      return files.get(path) ?? (paths.includes(path) ? await write(path) : undefined)
    },
  }
}
