import type { FastifyRequest } from 'fastify'

/** Conversations that a caller reaches: all, or its own, which are those that it began, in MCP sessions too. */
export type Reach = 'all' | { author: string }

/** The caller whose question is answered. */
export interface Asker {
  /** May only chat, so that no administrator vouches for the texts of such a caller. */
  isOutsider: boolean
  /** Where they write from, if that is outside. */
  channel?: string
  /** Whom they are known as there. */
  contactId?: string
  /** Identity by which what they say, and the conversations that they begin, are theirs. */
  author: string
  /** The conversations that they may continue. */
  reach: Reach
}

/** The identity of a caller as the author of what is said in an MCP session. */
const inMcpSession = (author: string) => `mcp:${author}`

/** The authors of own conversations; one of unknown author counts as begun by a caller without a user. */
export function authorsIn({ author }: Exclude<Reach, 'all'>): string[] {
  return [author, inMcpSession(author)]
}

/** The conversations that a caller may see: a query for what they contain takes this reach. */
export function sightOf({ isChatOnly, author }: FastifyRequest): Reach {
  return isChatOnly ? { author } : 'all'
}

/** The caller as the sender of messages: callers that can't change the agent continue only their own conversations. */
export function askerOf({ isAdmin, author }: FastifyRequest): Asker {
  return { isOutsider: !isAdmin, author, reach: isAdmin ? 'all' : { author } }
}

export function askerInMcpSession(request: FastifyRequest): Asker {
  return { ...askerOf(request), author: inMcpSession(request.author) }
}
