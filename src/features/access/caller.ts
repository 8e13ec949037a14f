import type { FastifyRequest } from 'fastify'
import type { Actor } from '#platform/actor.ts'
import { anonymous } from '#platform/actor.ts'
import type { Role } from './policy.ts'
import type { KnownRole } from './role-memory.ts'

/** A person named by the identity gateway, a sign-in, a personal key, or the development setting. */
export interface User {
  /** In one case, see `inOneCase`. */
  email: string
  name: string | undefined
  /** Named by the development setting: it counts as an admin of the agent `default`. */
  isDeveloper?: true
}

/** The sender of a request. */
export interface Caller {
  /** Undefined for callers without one; an agent's key is no person either. */
  user: User | undefined
  via: 'key' | 'gateway' | 'session' | 'developer' | 'none'
  key?: CallerKey
  session?: CallerSession
}

/** How an e-mail address was proved. */
export type Proof = 'operator' | 'mail' | 'oidc' | 'gateway' | 'dev_user'

interface CallerSession {
  id: string
  provedBy: Proof | null
  /** Without a proof: the only agents that it reaches, each with the most that it may do there. */
  invitedTo?: readonly { id: string; role: Role }[]
}

export interface CallerKey {
  id: string
  name: string
  /** E-mail address of the person who made it. */
  creator: string
  /** The only agents that it reaches; undefined if these are all of its creator's. */
  agents: readonly string[] | undefined
  /** The most that it may do, whatever its creator may; undefined if that is the same. */
  role: Role | undefined
  /** What its creator is on the agent of the request, where that was found with the key. */
  creatorOn?: { agentId: string; known: KnownRole | undefined }
}

/**
 * Finds out by one kind of proof who sends a request; undefined if the request carries none of that kind. Returns at once if
 * there is nothing to wait for. Throws UNAUTHORIZED for a proof that is not to be trusted.
 */
export type Identify = (request: FastifyRequest) => Caller | undefined | Promise<Caller | undefined>

export const noCaller: Caller = { user: undefined, via: 'none' }

/** Tries the kinds of proof in their order: the first that a request carries decides, and the others are not looked at. */
export function identifyInTurn(kinds: readonly Identify[]) {
  function from(first: number, request: FastifyRequest): Caller | Promise<Caller> {
    for (const [at, identify] of kinds.entries()) {
      const found = at < first ? undefined : identify(request)
      if (found instanceof Promise) return found.then(caller => caller ?? from(at + 1, request))
      if (found !== undefined) return found
    }
    return noCaller
  }
  return (request: FastifyRequest): Caller | Promise<Caller> => from(0, request)
}

export type FindCaller = ReturnType<typeof identifyInTurn>

/** The caller of a request that goes on for long: a key or session may have ended since. Throws UNAUTHORIZED. */
export function callerStill(request: FastifyRequest, identify: FindCaller): Caller | Promise<Caller> {
  const { caller } = request
  return caller.via === 'key' || caller.via === 'session' ? identify(request) : caller
}

/** The identity under which what the caller begins is stored; a personal key is its person. */
export function authorFor({ user, key }: Caller): string {
  if (user !== undefined) return `person:${user.email}`
  return key === undefined ? 'anonymous' : `key:${key.id}`
}

export function actorFor({ user, key, session }: Caller): Actor {
  if (key !== undefined) return { kind: 'key', id: key.id, name: key.name, person: key.creator }
  if (user === undefined) return anonymous
  const invitedTo = session?.invitedTo
  return { kind: 'person', id: user.email, name: user.name ?? null, ...(invitedTo && { invitedTo }) }
}
