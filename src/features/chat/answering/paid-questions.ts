import type { Kysely } from 'kysely'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { ChatEvents } from '../chat.events.ts'
import type { Lock } from '../conversation-lock.repository.ts'
import type { ConversationLock } from '../conversation-lock.ts'
import type { Asker } from './turn-planner.ts'

interface Dependencies {
  transact: Transact<ChatEvents>
  lock: ConversationLock
}

/** Has questions paid for while their conversation is locked, so that nothing is paid for that must be refused. */
export function createPaidQuestions({ transact, lock }: Dependencies) {
  /** Frees what was locked while somebody paid, for what comes next in the same transaction. */
  async function handOver(database: Kysely<AgentTables>, held: Lock | undefined): Promise<void> {
    if (held !== undefined) await lock.release(database, held)
  }

  return {
    handOver,

    /** Throws what paying throws. Undefined where nothing is locked: nobody pays, or the conversation is a new one. */
    async paid(
      agent: AgentHandle,
      { pay }: Asker,
      conversationOf: (transaction: Kysely<AgentTables>) => Promise<string | undefined>,
    ): Promise<Lock | undefined> {
      if (pay === undefined) return undefined
      const held = await transact(agent, async transaction => {
        const conversationId = await conversationOf(transaction)
        return conversationId === undefined ? undefined : await lock.acquire(transaction, conversationId)
      })
      try {
        await pay()
        return held
      } catch (error) {
        await handOver(agent.db, held)
        throw error
      }
    },
  }
}
