import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyRequest } from 'fastify'

/** Who acts: what stands behind a request, a job or a call of a tool. */
export interface Actor {
  /** `anonymous` is a caller without a user; `contact` decides by a notice; `model` acts in the turn of the actor that it is named after. */
  kind: 'person' | 'key' | 'anonymous' | 'channel' | 'contact' | 'schedule' | 'workflow' | 'model'
  /** Of a person the e-mail address, of a channel the id of the conversation, of others their own; null where there is none. */
  id: string | null
  /** For people to read: a person's name, or that of the key, channel, schedule, workflow or model. */
  name: string | null
  /** Of a key, the e-mail address of the person who made it. */
  person?: string
}

export const anonymous: Actor = { kind: 'anonymous', id: null, name: null }

/** The actor of the current request or job, for code that is too far away for an argument. Undefined for the service itself. */
export const currentActor = new AsyncLocalStorage<Actor | undefined>()

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor
  }
}

export function actorOf(request: FastifyRequest): Actor {
  return request.actor
}

/** For people to read where a record has one text for its author; undefined for callers without a user. */
export function labelOf({ kind, id, name, person }: Actor): string | undefined {
  if (kind === 'anonymous') return undefined
  if (kind === 'person') return id ?? undefined
  return person === undefined ? `${kind} ${name ?? id}` : `${kind} "${name}" of ${person}`
}

/** As it is kept in a column of text. */
export function writeActor({ kind, id, name, person }: Actor): string {
  return JSON.stringify({ kind, id, name, person })
}

export function readActor(text: string): Actor {
  return JSON.parse(text)
}
