import { hash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

/** A file that every client gets unchanged. Bytes, because a text would be copied for each slow reader. */
export interface KeptFile {
  contentType: string
  body: Buffer
  /** Tag of this content (RFC 9110, section 8.8.3). */
  etag: string
}

export function keepFile(contentType: string, body: Buffer): KeptFile {
  return { contentType, body, etag: `"${hash('sha256', body, 'base64url')}"` }
}

/** Sends the file, or status 304. By default, caches can store it and revalidate before each use. */
export function sendKept(
  reply: FastifyReply,
  { contentType, body, etag }: KeptFile,
  cacheControl = 'no-cache',
): FastifyReply {
  reply.header('Cache-Control', cacheControl).header('ETag', etag)
  const known = reply.request.headers['if-none-match'] ?? ''
  if (known === '*' || known.includes(etag)) return reply.code(304).send()
  return reply.header('Content-Type', contentType).send(body)
}
