/** Short pages after a followed link or a sign-in. They load nothing, run nothing, and can't be framed. */
import { hash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

const style =
  'body { max-width: 34rem; margin: 3rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui } ' +
  '.given { white-space: pre-line; overflow-wrap: anywhere }'

const policy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; frame-ancestors 'none'; form-action`

interface SmallPage {
  title: string
  /** HTML. */
  content: string
  /** True if the page has a form, which is sent to the service itself. */
  hasForm?: boolean
}

/** Sends the page with the reply's status. */
export function sendSmallPage(reply: FastifyReply, { title, content, hasForm }: SmallPage): FastifyReply {
  reply.header('content-security-policy', `${policy} ${hasForm ? "'self'" : "'none'"}`)
  // A form of a page without a referrer is sent like a foreign page's.
  if (hasForm) reply.header('referrer-policy', 'same-origin')
  return reply.type('text/html; charset=utf-8').send(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>${style}</style>
${content}
</html>
`)
}

export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
