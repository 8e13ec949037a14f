import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Feature } from '#features/feature.ts'
import { createFirstSignIn } from '#infrastructure/first-sign-in.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { Actor } from '#platform/actor.ts'
import type { Clock } from '#platform/clock.ts'
import { AccessDenied } from '#platform/errors.ts'
import { registerAccess } from '#platform/http/access.ts'
import type { SignalOf } from '#platform/http/closing.ts'
import type { FindGate } from '#platform/http/gate.ts'
import type { Log } from '#platform/logging/log.ts'
import { isLoopback } from '#platform/network.ts'
import { createAccessRepository } from './access.repository.ts'
import { registerAccessRoutes } from './access.routes.ts'
import { type AccessService, createAccessService } from './access.service.ts'
import { createAccessWatch } from './access-watch.ts'
import { createDecision, registerAgentRelease } from './authorize.ts'
import { type Caller, type Identify, identifyInTurn } from './caller.ts'
import { createCallerSignal, roleTakenAway } from './caller-signal.ts'
import { type ConnectionAccess, createConnectionAccess } from './connection-access.ts'
import { createGateway } from './gateway.ts'
import { createGivenRoles, type GivenRoles } from './given-roles.ts'
import { identifyAsDeveloper, identifyByGateway } from './identify.ts'
import { createKeyIdentification } from './keys/identify-key.ts'
import { createKeysRepository } from './keys/keys.repository.ts'
import { registerKeyRoutes } from './keys/keys.routes.ts'
import { createKeysService } from './keys/keys.service.ts'
import { createPeople, type PeopleService } from './people.service.ts'
import { allows } from './policy.ts'
import { lessForPages, type PublicAccessOf, refuseOtherSites } from './web-pages.ts'

/** Interval (ms) of the checks that callers may still use an agent: their requests end within five seconds of a loss. */
const lookAgainMs = 4_000

export type { Caller, Identify, Proof } from './caller.ts'
export type { ConnectionAccess } from './connection-access.ts'
export type { GivenRoles } from './given-roles.ts'
export type { Role } from './policy.ts'

export interface AccessFeature extends Feature {
  access: AccessService
  people: PeopleService
  /** Opens the agent for a route that finds it itself, for callers who may chat. Throws if this caller may not. */
  openAgent(request: FastifyRequest, reply: FastifyReply, agentId: string): Promise<void>
  /** Called when an agent was disabled. */
  disabled(agentId: string): void
  /** Returns a signal for long requests that aborts when their caller loses access, or the agent is disabled. */
  callerSignal(isDisabled: (agentId: string) => Promise<boolean>): SignalOf
  /** Checks work that outlives its request. Throws FORBIDDEN, UNAUTHORIZED or NOT_FOUND for a caller who may no longer chat. */
  stillPermitted(agentId: string, actor: Actor): Promise<{ isAdmin: boolean }>
  /** Access for long-lived connections whose route decides by itself who may open them. */
  connections: ConnectionAccess
  /** Lets callers without a role buy calls. */
  sellBy(gateOf: FindGate): void
  /** Called before a session begins: after the first one, callers without a user may do less. */
  personSignsIn(): Promise<void>
  /** Adds sessions as a way to identify callers. */
  signInBy(identify: Identify): void
}

/** Decides every request to a route that is registered after its hooks. */
export function createAccess(infrastructure: Infrastructure): AccessFeature {
  const { platform, agentDatabases, isExclusive, configuration, clock, ids, log } = infrastructure
  const watch = createAccessWatch(lookAgainMs)
  const repository = createKeysRepository(platform)
  const identification = createKeyIdentification({ repository, isExclusive, clock, log })
  const people = createPeople({
    ...infrastructure,
    forgetKeys: identification.forget,
    ended: () => watch.notify(),
  })
  const access = createAccessService({
    people,
    devUser: configuration.devUser,
    repository: Object.assign(createAccessRepository(platform), createGivenRoles(platform)),
    isExclusive,
    forgetMore: identification.forget,
    hasGateway: configuration.gateway !== undefined,
    roleTakenAway: watch.notify,
    clock,
    ids,
    log,
  })
  const keys = createKeysService({ repository, identification, access, rightsLost: watch.notify, clock, ids })
  let identifyBySession: Identify = () => undefined
  const identify = identifyInTurn([
    identification.identify,
    ...byGateway(configuration, clock, log),
    request => identifyBySession(request),
    ...byDeveloper(configuration),
  ])
  const firstSignIn = createFirstSignIn(infrastructure)
  const publicAccess = publicAccessFor(configuration, firstSignIn)
  const connections = createConnectionAccess({ identify, publicAccess, access, watch })
  let gateOf: FindGate = async () => undefined
  const decision = createDecision({
    identify,
    publicAccess,
    access,
    agentDatabases,
    gateOf: (request, reply) => gateOf(request, reply),
  })
  return {
    access,
    people,
    openAgent: decision.openAgent,
    disabled: watch.notify,
    connections,
    stillPermitted: permitAgain({ access, identification, firstSignIn, configuration }),
    callerSignal: isDisabled =>
      createCallerSignal({ identify, publicAccess, access, watch, isDisabled, log }),
    sellBy(given) {
      gateOf = given
    },
    async personSignsIn() {
      if (await firstSignIn.note()) watch.notify()
    },
    signInBy(given) {
      identifyBySession = given
    },
    stop: identification.settled,
    routes(app) {
      registerAgentRelease(app)
      registerAccess(app, decision)
      app.limitBy(identification.limitOf)
      registerAccessRoutes(app, access, people)
      registerKeyRoutes(app, keys)
    },
  }
}

type Configuration = Infrastructure['configuration']

interface PermitAgain {
  access: AccessService
  identification: ReturnType<typeof createKeyIdentification>
  firstSignIn: ReturnType<typeof createFirstSignIn>
  configuration: Configuration
}

/** Repeats the decision for work of a caller that outlives the request. */
function permitAgain({ access, identification, firstSignIn, configuration }: PermitAgain) {
  return async (agentId: string, actor: Actor): Promise<{ isAdmin: boolean }> => {
    const { publicAccess = 'full' } = await firstSignIn.inForce()
    // Callers without a user may always chat with the agents that they can reach, or have paid for.
    if (actor.kind === 'anonymous') return { isAdmin: publicAccess === 'full' }
    if (actor.id === null || (actor.kind !== 'person' && actor.kind !== 'key')) return { isAdmin: true }
    const isKey = actor.kind === 'key'
    const caller = isKey ? await identification.identifyAgain(actor.id) : callerAgain(actor, configuration)
    const asked = { caller, publicAccess }
    const permission = await Promise.try(() => access.permissionOn(agentId, asked)).catch(error => {
      throw error instanceof AccessDenied ? roleTakenAway() : error
    })
    if (!allows(permission, 'chatter', true)) throw roleTakenAway()
    return { isAdmin: allows(permission, 'admin') }
  }
}

/** Returns the person who began the work as a caller, with the limits of that time. */
function callerAgain({ id, name, invitedTo }: Actor, { devUser }: Configuration): Caller {
  const email = id ?? ''
  const user = { email, name: name ?? undefined, ...(email === devUser && { isDeveloper: true as const }) }
  const session = invitedTo && { id: '', provedBy: null, invitedTo: invitedTo as GivenRoles }
  return { user, via: 'session', ...(session && { session }) }
}

function byGateway({ gateway, baseUrl }: Configuration, clock: Clock, log: Log): Identify[] {
  if (gateway === undefined) return []
  const identify = identifyByGateway(gateway.header, createGateway(gateway, clock, log))
  return [refuseOtherSites(identify, gateway.header, baseUrl)]
}

function byDeveloper({ devUser }: Configuration): Identify[] {
  return devUser === undefined ? [] : [identifyAsDeveloper(devUser)]
}

/** Returns what callers without a user may do, which the first sign-in changes. */
function publicAccessFor(
  configuration: Configuration,
  { after, inForce }: ReturnType<typeof createFirstSignIn>,
): PublicAccessOf {
  const [openBefore, openAfter] = [openBy(configuration), openBy(after)]
  const open = (now: Configuration, request: FastifyRequest) =>
    (now === after ? openAfter : openBefore)(request)
  return request => {
    const now = inForce()
    return now instanceof Promise ? now.then(found => open(found, request)) : open(now, request)
  }
}

function openBy({ host, baseUrl, gateway, publicAccess }: Configuration): ReturnType<typeof lessForPages> {
  const isLocal = publicAccess === undefined && gateway === undefined && isLoopback(host)
  return isLocal ? lessForPages(baseUrl) : () => publicAccess ?? 'full'
}
