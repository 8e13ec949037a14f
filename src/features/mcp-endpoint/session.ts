import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

/** The name of a session: no process remembers one, so any can answer, to invented names as well. */
export const sessionHeader = 'mcp-session-id'

/**
 * Returns the id of the conversation of a session, or of a caller without one: any number of chats takes one
 * of the agent's places for conversations. It depends on the caller, so a session's name is no key.
 */
export function conversationOf({ actor, ip, headers }: FastifyRequest): string {
  const { kind, id } = actor
  const caller = kind === 'anonymous' ? ['address', ip] : [kind === 'person' ? 'user' : kind, id]
  return `mcp-${hash('sha256', JSON.stringify([caller, headers[sessionHeader]]), 'base64url')}`
}
