import type { FastifyRequest } from 'fastify'

/** The conversations that a caller reaches: all, or only those that it began, also in MCP sessions. */
export type Reach = 'all' | { author: string }

/** The caller whose question is answered. */
export interface Asker {
  /** True for a caller who may only chat: no administrator vouches for the caller's texts. */
  isOutsider: boolean
  /** The channel from which the caller writes, if it is outside. */
  channel?: string
  /** The contact's id in that channel. */
  contactId?: string
  /** The identity that owns the caller's messages and new conversations. */
  author: string
  /** The conversations that the caller may continue. */
  reach: Reach
}

/** Returns the caller's identity as the author of messages in an MCP session. */
const inMcpSession = (author: string) => `mcp:${author}`

/** Returns the authors of own conversations; one of unknown author counts as begun by a caller without a user. */
export function authorsIn({ author }: Exclude<Reach, 'all'>): string[] {
  return [author, inMcpSession(author)]
}

/** Returns the conversations that a caller may see, for queries of their contents. */
export function sightOf({ isChatOnly, author }: FastifyRequest): Reach {
  return isChatOnly ? { author } : 'all'
}

/** Returns the caller as the sender of messages. Callers that can't change the agent only continue their own conversations. */
export function askerOf({ isAdmin, author }: FastifyRequest): Asker {
  return { isOutsider: !isAdmin, author, reach: isAdmin ? 'all' : { author } }
}

export function askerInMcpSession(request: FastifyRequest): Asker {
  return { ...askerOf(request), author: inMcpSession(request.author) }
}
