import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyRequest } from 'fastify'

/** The author of an action: of a request, a job or a call of a tool. */
export interface Actor {
  /** `anonymous` is a caller without a user; `contact` decides by a notice; `model` acts in the turn of the actor that it is named after. */
  kind: 'person' | 'key' | 'anonymous' | 'channel' | 'contact' | 'schedule' | 'workflow' | 'model'
  /** The person's e-mail address, the channel's conversation, or the own id of others; null without one. */
  id: string | null
  /** A name for people: of the person, key, channel, schedule, workflow or model. */
  name: string | null
  /** The e-mail address of the person who made the key. */
  person?: string
  /** The only agents that a sign-in without a proof reaches, by their ids, each with the highest role on it. */
  invitedTo?: readonly { id: string; role: string }[]
}

export const anonymous: Actor = { kind: 'anonymous', id: null, name: null }

/** The current request's or job's actor, for code without an argument; undefined for the service itself. */
export const currentActor = new AsyncLocalStorage<Actor | undefined>()

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor
  }
}

export function actorOf(request: FastifyRequest): Actor {
  return request.actor
}

/** Returns one text for an author, for people to read; undefined for callers without a user. */
export function labelOf({ kind, id, name, person }: Actor): string | undefined {
  if (kind === 'anonymous') return undefined
  if (kind === 'person') return id ?? undefined
  return person === undefined ? `${kind} ${name ?? id}` : `${kind} "${name}" of ${person}`
}

/** Returns the actor as it is stored in a column of text. */
export function writeActor({ kind, id, name, person }: Actor): string {
  return JSON.stringify({ kind, id, name, person })
}

export function readActor(text: string): Actor {
  return JSON.parse(text)
}
