import type { FastifyRequest } from 'fastify'
import type { Ids } from '#platform/ids.ts'

/** Returns an id that contains the agent's id, because channels are opened by the session id alone. */
export function newSessionId(agentId: string, ids: Ids): string {
  return `${agentId}.${ids.record()}`
}

/** Returns undefined for an invalid session id. */
export function agentOfSession(sessionId: string): string | undefined {
  return /^(.+)\.[^.]+$/.exec(sessionId)?.[1]
}

/** Returns the parameters of a request; clients of steel-browser add theirs with a second `?`. */
export function parametersOf({ url }: Pick<FastifyRequest, 'url'>): URLSearchParams {
  return new URLSearchParams(url.split('?').slice(1).join('&'))
}
