import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

/** Names a session, and nothing more: no process remembers one, so any can answer. One that a client made up is as good. */
export const sessionHeader = 'mcp-session-id'

/**
 * Id of the conversation of a session, or of all messages of a caller who names none: however often they chat, they take
 * one of the agent's places for conversations. It follows from who calls, so that a session's name is no key to it.
 */
export function conversationOf({ actor, ip, headers }: FastifyRequest): string {
  const { kind, id } = actor
  const caller = kind === 'anonymous' ? ['address', ip] : [kind === 'person' ? 'user' : kind, id]
  return `mcp-${hash('sha256', JSON.stringify([caller, headers[sessionHeader]]), 'base64url')}`
}
