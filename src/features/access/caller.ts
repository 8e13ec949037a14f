import type { FastifyRequest } from 'fastify'
import { type Actor, anonymous } from '#platform/actor.ts'
import type { Role } from './policy.ts'
import type { KnownRole } from './role-memory.ts'

/** A person named by the identity gateway, a sign-in, a personal key, or the development setting. */
export interface User {
  /** Normalized to one letter case by `inOneCase`. */
  email: string
  name: string | undefined
  /** True if the development setting names the user, who is then an admin of the agent `default`. */
  isDeveloper?: true
}

/** The sender of a request. */
export interface Caller {
  /** Undefined for callers without a user, such as an agent's key. */
  user: User | undefined
  via: 'key' | 'gateway' | 'session' | 'developer' | 'none'
  key?: CallerKey
  session?: CallerSession
}

/** The way an e-mail address was proved. */
export type Proof = 'operator' | 'mail' | 'oidc' | 'gateway' | 'dev_user'

interface CallerSession {
  id: string
  provedBy: Proof | null
  /** The agents that a session without a proof can reach, each with its highest role there. */
  invitedTo?: readonly { id: string; role: Role }[]
}

export interface CallerKey {
  id: string
  name: string
  /** E-mail address of the person who made the key. */
  creator: string
  /** The agents that the key can reach; defaults to all of its creator's. */
  agents: readonly string[] | undefined
  /** The highest role of the key; defaults to its creator's. */
  role: Role | undefined
  /** The creator's role on the agent of the request, where it was read along with the key. */
  creatorOn?: { agentId: string; known: KnownRole | undefined }
}

/**
 * Identifies a request's sender by one kind of proof; undefined if the request has no such proof. Returns synchronously if
 * there is nothing to wait for. Throws UNAUTHORIZED for an invalid proof.
 */
export type Identify = (request: FastifyRequest) => Caller | undefined | Promise<Caller | undefined>

export const noCaller: Caller = { user: undefined, via: 'none' }

/** Tries the kinds of proof in order: the first that a request carries decides, and the others are not read. */
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

/** Identifies the caller of a long request again, because a key or session can end meanwhile. Throws UNAUTHORIZED. */
export function callerStill(request: FastifyRequest, identify: FindCaller): Caller | Promise<Caller> {
  const { caller } = request
  return caller.via === 'key' || caller.via === 'session' ? identify(request) : caller
}

/** Returns the identity that the caller's new rows are stored under; a personal key counts as its person. */
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
