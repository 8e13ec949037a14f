import type { FastifyReply, FastifyRequest } from 'fastify'
import { anonymous, currentActor } from '#platform/actor.ts'
import { currentOwner } from '#platform/current-owner.ts'
import { AccessDenied } from '#platform/errors.ts'
import type { Access, App } from '#platform/http/app.ts'
import { whenClosed } from '#platform/http/closing.ts'
import { type FindGate, type Gate, registerGates } from '#platform/http/gate.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import { type AccessService, defaultAgentId } from './access.service.ts'
import { actorFor, authorFor, type Caller, callerStill, type FindCaller, noCaller } from './caller.ts'
import {
  type AgentAccess,
  allows,
  chatRefusal,
  invitedRefusal,
  isAgentAccess,
  keyRefusal,
  type PublicAccess,
  refusal,
} from './policy.ts'
import type { PublicAccessOf } from './web-pages.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    /** The identity that the caller's new rows are stored under. */
    author: string
    /** The caller's permission on the agent `default` without a role on it. */
    publicAccess: PublicAccess
    /** The agent in the path, with its open database; set on every route that has an access on an agent and opens it. */
    agent: AgentHandle
    /** True if the caller could also change that agent, even on a route that requires less. */
    isAdmin: boolean
    /** True if the caller sees only its own conversations, as the role `chat` does. */
    isChatOnly: boolean
    /** Reports that the handler no longer needs the agent; its response stream might still need it. */
    agentAnswered?: () => void
  }
}

interface Dependencies {
  identify: FindCaller
  publicAccess: PublicAccessOf
  access: AccessService
  agentDatabases: AgentDatabases
  /** Finds the gate for calls that are sold. */
  gateOf: FindGate
}

/** Decides for all requests whether they are permitted, and opens the agent's database for them. */
export function createDecision({
  identify,
  publicAccess,
  access: service,
  agentDatabases,
  gateOf,
}: Dependencies) {
  /** Returns the gate for callers without a role on the agent; others need not buy. */
  async function findGate(request: FastifyRequest, reply: FastifyReply): Promise<Gate | undefined> {
    if (request.routeOptions.config.soldAs === undefined) return undefined
    return (await service.hasRole(agentIdOf(request), request)) ? undefined : await gateOf(request, reply)
  }

  async function requirePermission(
    request: FastifyRequest,
    access: AgentAccess,
    agentId = agentIdOf(request),
  ): Promise<void> {
    const found = service.permissionOn(agentId, request)
    const permission = found instanceof Promise ? await found : found
    const isPage = request.publicAccess === 'page'
    if (!allows(permission, access, request.routeOptions.config.chat))
      throw new AccessDenied(
        permission === 'chat' ? chatRefusal : refusal(access, agentId === defaultAgentId, isPage),
      )
    request.isAdmin = allows(permission, 'admin')
    request.isChatOnly = permission === 'chat'
  }

  async function acquire(request: FastifyRequest, reply: FastifyReply, agentId: string): Promise<void> {
    request.agent = await agentDatabases.acquire(agentId)
    // The client can disconnect before the handler returns, and the handler can return before its stream ends: the last of
    // them releases the agent.
    const release = afterBoth(() => request.agent.release())
    request.agentAnswered = release.first
    whenClosed(reply, release.second)
  }

  async function enterAgent(
    request: FastifyRequest,
    reply: FastifyReply,
    access: AgentAccess,
  ): Promise<void> {
    const gate = await findGate(request, reply)
    if (gate === undefined) await requirePermission(request, access)
    else Object.assign(request, { gate, author: gate.caller })
    if (request.routeOptions.config.opensAgent !== false) await acquire(request, reply, agentIdOf(request))
  }

  return {
    async decide(request: FastifyRequest, reply: FastifyReply, access: Access) {
      const identified = identify(request)
      const caller = identified instanceof Promise ? await identified : identified
      request.caller = caller
      request.actor = actorFor(caller)
      request.author = authorFor(caller)
      request.publicAccess = await publicAccess(request)
      requireWhole(caller, access, request.routeOptions.config.byKey)
      if (access === 'user' && caller.user === undefined)
        throw new AccessDenied(
          'Access denied: this needs a user. Send an API key, sign in (npm run sign-in makes a link; its cookie counts only ' +
            "with the service's own Origin) or through the identity gateway, or set DEV_USER while developing. " +
            'Requests of web pages of another origin never act as a user.',
        )
      if (isAgentAccess(access) && !request.routeOptions.config.findsAgent)
        await enterAgent(request, reply, access)
    },

    /** Decides by the access of a route that finds its agent itself. Throws as `decide` does. */
    async openAgent(request: FastifyRequest, reply: FastifyReply, agentId: string) {
      await requirePermission(request, 'chatter', agentId)
      await acquire(request, reply, agentId)
    },

    async decideAgain(request: FastifyRequest, access: Access) {
      request.caller = await callerStill(request, identify)
      request.publicAccess = await publicAccess(request)
      const isFound = !request.routeOptions.config.findsAgent || request.agent !== undefined
      if (isAgentAccess(access) && request.gate === undefined && isFound)
        await requirePermission(request, access)
    },
  }
}

/** Refuses limited keys and sessions on routes that give lasting rights. @throws AccessDenied */
function requireWhole({ key, session }: Caller, access: Access, byKey = true): void {
  if (key !== undefined && !byKey) throw new AccessDenied(keyRefusal)
  if (access === 'user' && (key?.role ?? key?.agents) !== undefined)
    throw new AccessDenied('Access denied: this API key is limited to some agents, or to a role on them.')
  const isLasting = access === 'user' || (!byKey && isAgentAccess(access))
  if (session?.invitedTo !== undefined && isLasting) throw new AccessDenied(invitedRefusal)
}

/** Calls back once, after both functions have been called at least once. */
function afterBoth(callback: () => void) {
  const isCalled = { first: false, second: false }
  function call(one: 'first' | 'second'): void {
    if (isCalled[one]) return
    isCalled[one] = true
    if (isCalled.first && isCalled.second) callback()
  }
  return { first: () => call('first'), second: () => call('second') }
}

/** Prepares requests for the decision. `onSend` runs for every handler's response or failure. */
export function registerAgentRelease(app: App): void {
  app.decorateRequest('caller')
  app.decorateRequest('actor')
  app.decorateRequest('author', 'anonymous')
  app.addHook('onRequest', (request, _reply, done) => {
    // Remains the caller on public routes, which check no proof.
    request.caller = noCaller
    request.actor = anonymous
    done()
  })
  app.decorateRequest('publicAccess', 'read')
  app.decorateRequest('agent')
  app.decorateRequest('isAdmin', false)
  app.decorateRequest('isChatOnly', true)
  app.decorateRequest('agentAnswered')
  app.addHook('preHandler', (request, _reply, done) =>
    currentActor.run(request.actor, () => currentOwner.run(agentIdOf(request), done)),
  )
  registerGates(app)
  app.addHook('onSend', (request, _reply, payload, done) => {
    request.agentAnswered?.()
    done(null, payload)
  })
}

function agentIdOf(request: FastifyRequest): string {
  return request.agent?.agentId ?? (request.params as { id: string }).id
}
