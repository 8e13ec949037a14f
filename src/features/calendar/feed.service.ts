import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '#platform/clock.ts'
import { notFound } from '#platform/errors.ts'
import { type KeptFile, keepFile } from '#platform/http/responses/kept-file.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import { feedHash, replaceFeed } from './calendar.repository.ts'

interface Dependencies {
  agentDatabases: AgentDatabases
  nameOf(agentId: string): Promise<string>
  baseUrl: string
  clock: Clock
}

/** The calendar for other programs, at a secret address; only the hash of its token is stored. */
export function createFeedService({ agentDatabases, nameOf, baseUrl, clock }: Dependencies) {
  return {
    /** Creates a new address and revokes the former one. */
    async create({ db, agentId }: AgentHandle): Promise<{ url: string }> {
      const token = randomBytes(32).toString('base64url')
      await inTransaction(db, transaction => replaceFeed(transaction, hashOf(token).toString('hex')))
      return { url: `${baseUrl}/api/agents/${agentId}/calendar/feed.ics?token=${token}` }
    },

    remove: ({ db }: AgentHandle): Promise<void> =>
      inTransaction(db, transaction => replaceFeed(transaction)),

    /** @throws AppError NOT_FOUND for a wrong token or an unknown agent */
    async read(agentId: string, token: string): Promise<KeptFile> {
      using agent = await agentDatabases.acquireUnproven(agentId)
      const hash = Buffer.from((agent && (await feedHash(agent.db))) ?? '', 'hex')
      const givenHash = hashOf(token)
      if (agent === undefined || hash.length !== givenHash.length || !timingSafeEqual(hash, givenHash))
        throw notFound('Feed')
      const { writeFeed } = await import('./feed/write-feed.ts')
      const text = await writeFeed(agent.db, { name: await nameOf(agentId), now: clock.now() })
      return keepFile('text/calendar; charset=utf-8', Buffer.from(text))
    },
  }
}

export type FeedService = ReturnType<typeof createFeedService>

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
