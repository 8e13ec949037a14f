import { randomBytes } from 'node:crypto'
import { fastify } from 'fastify'

/** One file of the page. */
export interface ReferenceFile {
  contentType: string
  body: Buffer
  /** What the page may load: itself and this server only. */
  contentSecurityPolicy: string
}

/**
 * The page that shows the OpenAPI document, served from this machine alone: no fonts, scripts or telemetry from
 * elsewhere. Its library, some megabytes, is loaded when somebody first opens it.
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
  let opened: ReturnType<typeof open> | undefined

  /** All its files, which are megabytes: writing them anew for everybody who asks would keep the others waiting. */
  async function open(): Promise<ReadonlyMap<string, ReferenceFile>> {
    const { default: reference } = await import('@scalar/fastify-api-reference')
    // A server of its own, never listening: its routes stay out of ours, where every route declares its access.
    const server = fastify()
    const looks = { pageTitle: 'agentstead API', withDefaultFonts: false }
    const configuration = { url: documentUrl, ...looks, telemetry: false, nonce }
    await server.register(reference, { routePrefix: prefix, configuration })
    const files = new Map<string, ReferenceFile>()
    for (const path of [`${prefix}/`, `${prefix}/js/scalar.js`]) {
      const { headers, rawPayload: body } = await server.inject(path)
      files.set(path, { contentType: String(headers['content-type']), body, contentSecurityPolicy })
    }
    return files
  }

  return {
    /** `path` begins with the prefix; undefined for what is no part of the page. */
    async read(path: string): Promise<ReferenceFile | undefined> {
      opened ??= open()
      return (await opened).get(path)
    },
  }
}
