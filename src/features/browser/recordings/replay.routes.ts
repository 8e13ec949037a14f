import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { AccessDenied } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { limitWaiting } from '#platform/http/responses/slow-readers.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { LiveLinks } from '../live/live-links.ts'
import { pageFile, registerPageAssets } from '../live/page-assets.ts'
import { agentOfSession } from '../sessions/session-id.ts'
import type { Recordings } from './recordings.service.ts'

interface Dependencies {
  recordings: Recordings
  links: LiveLinks
  agentDatabases: AgentDatabases
}

/**
 * The frame with the recorded page inherits this policy: nothing in it loads, runs, or leads elsewhere. Its
 * styles are within the recording.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  'frame-ancestors *',
].join('; ')

const config = { area: 'generic', access: 'open', limit: 'browser' } as const
const sessionPath = Type.Object({ sessionId: Type.String() })
const token = Type.Object({ token: Type.Optional(Type.String()) })

/** Serves the page that replays the recording of a session. Anyone with a link may open it. */
export function registerReplay(app: App, { recordings, links, agentDatabases }: Dependencies): void {
  const page = readFileSync(pageFile('replay.html'), 'utf8')
  registerPageAssets(app, 'replay', {
    'replay.js': pageFile('replay.js'),
    'replay.css': pageFile('replay.css'),
    'rrweb.js': libraryFile('rrweb.umd.min.cjs'),
    'rrweb.css': libraryFile('style.min.css'),
  })

  async function requireReplay(sessionId: string, givenToken = ''): Promise<void> {
    const grant = await links.read(givenToken, sessionId)
    if (grant?.right !== 'replay')
      throw new AccessDenied('This link is no longer valid. Ask for a new one where you got it from.')
  }

  app.route({
    method: 'GET',
    url: '/replay/:sessionId',
    config,
    schema: { params: sessionPath, querystring: token },
    handler: async (request, reply) => {
      const { sessionId } = request.params
      await requireReplay(sessionId, request.query.token)
      const isThere = await agentDatabases
        .use(agentOfSession(sessionId) ?? '', agent => recordings.has(agent, sessionId))
        .catch(() => false)
      if (!isThere) return nothingThere(reply)
      reply.removeHeader('x-frame-options')
      return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(page)
    },
  })

  app.route({
    method: 'GET',
    url: '/replay/:sessionId/events',
    config,
    schema: { params: sessionPath, querystring: token },
    handler: async (request, reply) => {
      const { sessionId } = request.params
      await requireReplay(sessionId, request.query.token)
      const agent = await agentDatabases.acquire(agentOfSession(sessionId) ?? '')
      const recording = await recordings.find(agent, sessionId).catch(() => undefined)
      if (recording === undefined) {
        agent.release()
        return nothingThere(reply)
      }
      const stream = Readable.from(recordings.read(agent, sessionId, recording))
      void finished(stream)
        .catch(() => {})
        .finally(() => agent.release())
      limitWaiting(reply.raw)
      return reply.type('application/json').send(stream)
    },
  })
}

function libraryFile(name: string): URL {
  return new URL(name, import.meta.resolve('rrweb'))
}

function nothingThere(reply: FastifyReply): FastifyReply {
  const message = 'Nothing is recorded of this session, or no longer: recordings are kept for 30 days.'
  return reply.code(404).type('text/plain; charset=utf-8').send(message)
}
