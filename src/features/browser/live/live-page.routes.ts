import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import type { LiveLinks } from './live-links.ts'
import { pageFile, registerPageAssets } from './page-assets.ts'

interface Dependencies {
  links: Pick<LiveLinks, 'read'>
  /** @throws AppError NOT_FOUND, also for a deleted agent */
  isSessionOpen(sessionId: string): Promise<boolean>
  clock: Clock
}

const config = { area: 'generic', access: 'open', limit: 'open' } as const

const assets = [
  'page.css',
  'live.css',
  'live.js',
  'live-connection.js',
  'live-keyboard.js',
  'live-mouse.js',
  'live-picker.js',
  'live-tabs.js',
  'live-takeover.js',
]

/** `'self'` includes WebSockets (CSP 3, section 6.7.2.8). Pictures and icons are data URLs. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data: blob:; " +
  "base-uri 'none'; form-action 'none'"

/** Serves the page on which people watch and drive sessions. Its scripts contain no secrets; the links do. */
export function registerLivePage(app: App, { links, isSessionOpen, clock }: Dependencies): void {
  const page = readFileSync(pageFile('live.html'), 'utf8')
  registerPageAssets(app, 'live', Object.fromEntries(assets.map(name => [name, pageFile(name)])))

  app.route({
    method: 'GET',
    url: '/live/:sessionId',
    config,
    schema: { params: Type.Object({ sessionId: Type.String() }) },
    handler: async (request, reply) => {
      const { sessionId } = request.params
      const token = new URLSearchParams(request.url.split('?')[1]).get('token') ?? ''
      const grant = await links.read(token, sessionId)
      // The response is the same for unknown sessions, so a caller without a valid token learns nothing.
      if (grant === undefined || grant.right === 'replay') return sendWords(reply.code(403), refused)
      if (!(await isSessionOpen(sessionId).catch(falseIfUnknown))) return sendWords(reply.code(404), ended)
      // A site that frames a takeover could misdirect clicks; a watched page takes no clicks.
      permitFrames(reply, grant.right === 'watch' ? '*' : "'self'")
      const filled = page.replace('{{right}}', grant.right).replace('{{now}}', String(clock.now()))
      return reply.type('text/html; charset=utf-8').send(filled)
    },
  })
}

function permitFrames(reply: FastifyReply, ancestors: '*' | "'self'" = '*'): void {
  reply.removeHeader('x-frame-options')
  reply.header('content-security-policy', `${policy}; frame-ancestors ${ancestors}`)
}

function falseIfUnknown(error: unknown): boolean {
  if (error instanceof AppError && error.code === 'NOT_FOUND') return false
  throw error
}

interface Words {
  title: string
  text: string
}

const refused: Words = {
  title: 'This link is not valid',
  text:
    'It may have expired (links for watching last an hour), or a part of it was lost on the way. Open the whole link once ' +
    'more, or ask for a new one where you got this one.',
}

const ended: Words = {
  title: 'The session has ended',
  text: 'There is nothing to see any more. You can close this page.',
}

/** Sends a message that explains the missing picture, also in a frame. */
function sendWords(reply: FastifyReply, { title, text }: Words): FastifyReply {
  permitFrames(reply)
  return reply.type('text/html; charset=utf-8').send(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/page.css">
<main class="words">
<h1>${title}</h1>
<p>${text}</p>
</main>
</html>
`)
}
