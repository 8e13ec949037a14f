import type { FastifyReply, FastifyRequest } from 'fastify'
import { describeChange } from '#platform/current-change.ts'
import { AccessDenied, invalid } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { escaped, sendSmallPage } from '#platform/http/responses/small-page.ts'
import { routesBelow } from '#platform/http/routes.ts'
import type { Log } from '#platform/logging/log.ts'
import { type Oidc, SignInRefused, signInLimitSeconds } from './oidc.ts'
import { addressFor, isOfForeignPage, isOwnPath } from './own-page.ts'
import type { createCookies, Sessions } from './sessions.ts'
import { linkSchema, meSchema, personSchema, signedOutSchema, signInSchema } from './sign-in.schema.ts'
import type { SignInService } from './sign-in.service.ts'

interface Parts {
  service: SignInService
  sessions: Sessions
  cookies: ReturnType<typeof createCookies>
  oidc: Oidc | undefined
  /** The host of the provider. */
  provider: string | undefined
  baseUrl: string | undefined
  version: string
  log: Log
}

export function registerSignInRoutes(app: App, parts: Parts): void {
  const { sessions, service, provider, version, baseUrl, log } = parts
  const routes = routesBelow(app, '/api/auth', 'Sign-in')

  routes.get('/me', {
    name: 'getMe',
    summary: 'Get the caller and the powers of the public',
    description:
      '`user` is null for callers without one, and `via` then, too. `public_access` is the power of such callers on the ' +
      'agent `default`. `identity_provider` is the host of the one that people sign in by.',
    access: 'anyone',
    handle: ({ caller: { user, via }, publicAccess }) => ({
      user: user === undefined ? null : { email: user.email, name: user.name ?? null },
      via: viaOf(via),
      public_access: publicAccess === 'page' ? 'chat' : publicAccess,
      identity_provider: provider ?? null,
      version,
    }),
    answer: meSchema,
  })
  routes.post('/link', {
    name: 'redeemLink',
    summary: 'Send the token of a link to sign in',
    description: 'Sets a cookie. A link works once.',
    access: 'anyone',
    byKey: false,
    body: linkSchema,
    answer: personSchema,
    async handle(request, reply) {
      if (isOfForeignPage(request, baseUrl))
        throw new AccessDenied(
          'Access denied: a page of another site can’t sign you in. Open the link itself.',
        )
      const { user } = request.caller
      const admission = await service
        .redeem(request.body.token, request.caller, email => actAs(request, email, null))
        .catch(error => refuse(log, error))
      const { email } = admission
      const name = user?.email === email ? (user.name ?? null) : null
      await sessions.begin(request, reply, { ...admission, name })
      return { user: { email, name } }
    },
  })
  routes.post('/sign-out', {
    name: 'signOut',
    summary: 'End the session of this browser',
    access: 'anyone',
    answer: signedOutSchema,
    async handle(request, reply) {
      await sessions.signOut(request, reply)
      return { success: true }
    },
  })
  registerProvider(app, parts)
}

/** Registers the routes to the identity provider and back. People see the responses, so a failure is a page. */
function registerProvider(app: App, parts: Parts): void {
  const { oidc, cookies, sessions, service, baseUrl, log } = parts
  const cookie = { name: 'sign-in', sameSite: 'Lax' } as const
  const callbackOf = (request: FastifyRequest) => `${addressFor(request, baseUrl)}/api/auth/callback`
  const config = { area: 'generic', access: 'open', limit: 'general' } as const

  app.route({
    method: 'GET',
    url: '/api/auth/sign-in',
    config: { ...config, operationId: 'startSignIn' },
    schema: signInSchema,
    async handler(request, reply) {
      const { return_to: returnTo = '/' } = request.query
      if (!isOwnPath(returnTo)) {
        log.warn({ returnTo: returnTo.slice(0, 200) }, 'refused a sign-in that leads to another site')
        throw invalid('return_to', 'must be a path of this service, with one slash at its start')
      }
      if (oidc === undefined) return reply.redirect(`/sign-in?return_to=${encodeURIComponent(returnTo)}`)
      return await redirect(reply, parts, async () => {
        const { url, kept } = await oidc.begin(callbackOf(request), returnTo)
        cookies.set(request, reply, { ...cookie, value: kept, maxAgeSeconds: signInLimitSeconds })
        return url
      })
    },
  })
  app.route({
    method: 'GET',
    url: '/api/auth/callback',
    config: { ...config, operationId: 'finishSignIn', audit: 'described' },
    handler: (request, reply) =>
      redirect(reply, parts, async () => {
        if (oidc === undefined) throw new SignInRefused('off', 'This service has no identity provider.')
        const kept = cookies.read(request, cookie.name).flat()
        cookies.set(request, reply, { ...cookie, value: '', maxAgeSeconds: 0 })
        const { search } = new URL(request.url, 'http://here.invalid')
        const { account, returnTo } = await oidc.finish(new URL(callbackOf(request) + search), kept)
        const { email, name } = account
        actAs(request, email, name)
        await service.admit(account)
        await sessions.begin(request, reply, { email, name, provedBy: 'oidc' })
        return returnTo
      }),
  })
}

/** Sets the person who signs in as the actor in the audit log. */
function actAs(request: FastifyRequest, email: string, name: string | null): void {
  request.actor = { kind: 'person', id: email, name }
  describeChange({ signed_in: email })
}

/** Redirects the browser, or shows the reason for a refusal. */
async function redirect(
  reply: FastifyReply,
  parts: Parts,
  work: () => Promise<string>,
): Promise<FastifyReply> {
  try {
    return reply.redirect(await work().catch(error => refuse(parts.log, error)))
  } catch (error) {
    if (!(error instanceof SignInRefused)) throw error
    reply.code(error.reason === 'unreachable' ? 502 : 403)
    const content = `<h1>You are not signed in</h1>
<p role="alert">${escaped(error.message)}</p>
<p><a href="/sign-in">Back to the sign-in</a></p>`
    return sendSmallPage(reply, { title: 'Sign in to agentstead', content })
  }
}

/** Logs why a person was not signed in, without tokens and codes. */
function refuse(log: Log, error: unknown): never {
  if (error instanceof SignInRefused)
    log.warn({ reason: error.reason, detail: error.detail }, `refused a sign-in: ${error.message}`)
  throw error
}

function viaOf(via: FastifyRequest['caller']['via']) {
  if (via === 'none') return null
  return via === 'developer' ? ('dev_user' as const) : via
}
