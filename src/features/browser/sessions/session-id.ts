import type { FastifyRequest } from 'fastify'
import type { Ids } from '#platform/ids.ts'

/** With the agent in it: channels are opened by the id of a session alone. */
export function newSessionId(agentId: string, ids: Ids): string {
  return `${agentId}.${ids.record()}`
}

/** Undefined for what can't be the id of a session. */
export function agentOfSession(sessionId: string): string | undefined {
  return /^(.+)\.[^.]+$/.exec(sessionId)?.[1]
}

/** The parameters of a request; clients of steel-browser add theirs with a second `?`. */
export function parametersOf({ url }: Pick<FastifyRequest, 'url'>): URLSearchParams {
  return new URLSearchParams(url.split('?').slice(1).join('&'))
}
