import { type Clock, timestamp } from '#platform/clock.ts'
import { type JobHandler, JobYields, type NewJob, type Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { ChatEvents } from '../chat.events.ts'
import type { ChatMessage } from '../chat.schema.ts'
import type { ConversationLock } from '../conversations/conversation-lock.ts'
import { settleApprovals } from '../rows/approvals.repository.ts'
import {
  appendEvents,
  findDecided,
  findHeld,
  findTurn,
  findWaiting,
  moveTurn,
  type TurnRow,
  type TurnStatus,
  type Waiting,
  waitingOf,
} from '../rows/turns.repository.ts'
import type { StreamEvent } from '../stream-events.schema.ts'
import { endTurn } from './end-turn.ts'
import { endAnswer } from './ended-answer.ts'
import { again, type Change, createParking, type EndingChange, jobOf, lookAt } from './parking.ts'
import { turnJobName } from './stored-turn.ts'
import { browserLost, expiryOf, type WaitEnd, wordsOf } from './wait-sentences.ts'

const endsFrom: Record<WaitEnd, readonly TurnStatus[]> = {
  overtaken: ['waiting'],
  stopped: ['waiting', 'running', 'stopping'],
  abandoned: ['waiting', 'running', 'stopping'],
}

/** The end of a wait in a browser. */
export type Settled = { result: string } | { error: string } | 'expired'

interface Dependencies {
  lock: ConversationLock
  /** Returns true if a session still has a browser, in any process. */
  isBrowserOpen(agent: AgentHandle, sessionId: string): Promise<boolean>
  transact: Transact<ChatEvents>
  clock: Clock
}

/** Ends turns whose waits end without a decision. */
function createEnds({ lock, clock }: Pick<Dependencies, 'lock' | 'clock'>) {
  /** Ends the turn, and keeps its text. Returns false if the turn no longer waits. */
  async function end(change: EndingChange, row: TurnRow, how: WaitEnd): Promise<boolean> {
    const { transaction, outbox } = change
    const { resume: next } = waitingOf(row)
    const message = wordsOf[how]
    const error = { code: 'CONFLICT' as const, message }
    if (!(await endTurn({ transaction, outbox, clock }, row, { from: endsFrom[how], error }))) return false
    const held = { conversationId: row.conversation_id, token: row.lock_token ?? 0 }
    // A process that still runs the turn can no longer write.
    await lock.revoke(transaction, held)
    const answer = await endAnswer(transaction, row, { how, error: message, at: timestamp(clock) })
    if (next.name === turnJobName) {
      const last: StreamEvent =
        how === 'stopped' && answer ? completionOf(answer) : { type: 'error', ...error }
      await appendEvents(transaction, row.id, [last])
    } else if (how !== 'abandoned') await again(outbox, next)
    return true
  }

  return {
    end,

    /** Ends the wait in a conversation, if there is one, for a new message. */
    async endIn(change: Change, conversationId: string): Promise<void> {
      const found = await findWaiting(change.transaction, conversationId)
      const row = found && (await findTurn(change.transaction, found.id))
      if (row) await end(change, row, 'overtaken')
    },
  }
}

function completionOf({ id: assistantMessageId, toolCalls, toolResults }: ChatMessage): StreamEvent {
  return { type: 'message_complete', assistantMessageId, toolCalls, toolResults }
}

/** Manages turns that wait for a decision: parks, resumes and ends them. All but the job runs in transactions of others. */
export function createWaiting(needs: Dependencies) {
  const { isBrowserOpen, transact, clock } = needs
  const { resume, ...parking } = createParking(needs)
  const ends = createEnds(needs)
  const { end } = ends

  async function expire(change: Change, row: TurnRow): Promise<void> {
    await settleApprovals(change.transaction, row.id, timestamp(clock))
    await resume(change, row, { error: expiryOf(waitingOf(row)), ends: true })
  }

  /** Stores the result of a call that waits in a browser, and resumes the turn; does nothing if the turn no longer waits. */
  const settle = (agent: AgentHandle, turnId: string, callId: string, settled: Settled): Promise<void> =>
    transact(agent, async (transaction, outbox) => {
      const row = await findTurn(transaction, turnId)
      if (row?.status !== 'waiting' || waitingOf(row).approval_id !== callId) return
      const change = { transaction, outbox }
      await (settled === 'expired' ? expire(change, row) : resume(change, row, settled))
    })

  /** Extends the wait of a call in a browser; does nothing if the call no longer waits, or already waits as long. */
  const prolong = (agent: AgentHandle, turnId: string, callId: string, end: number): Promise<void> =>
    transact(agent, async (transaction, outbox) => {
      const row = await findTurn(transaction, turnId)
      const held = row?.status === 'waiting' ? waitingOf(row) : undefined
      if (held?.approval_id !== callId || Date.parse(held.until) >= end) return
      const waiting = { ...held, until: new Date(end).toISOString() }
      const isMoved = await moveTurn(transaction, turnId, ['waiting'], { waiting: JSON.stringify(waiting) })
      if (isMoved) await again(outbox, jobOf(turnId, lookAt(waiting, clock)))
    })

  /** Returns false for a turn that waits for approval, and at the time limit. Throws JobYields while there is a browser. */
  async function isBrowserLost(agent: AgentHandle, waiting: Waiting): Promise<boolean> {
    const { session_id, until } = waiting
    if (session_id === undefined || clock.now() >= Date.parse(until)) return false
    if (await isBrowserOpen(agent, session_id)) throw new JobYields({ until: lookAt(waiting, clock) })
    return true
  }

  return {
    ...parking,
    ...ends,

    settle,
    prolong,

    /** Ends the turn of a message after its decision, for callers that no longer continue it. */
    abandon: (agent: AgentHandle, messageId: string): Promise<void> =>
      transact(agent, async (transaction, outbox) => {
        const row = await findDecided(transaction, messageId)
        if (row) await end({ transaction, outbox }, row, 'abandoned')
      }),

    /** Ends an author's turns that have waited and that no job continues, in the caller's transaction. */
    async abandonAll(
      change: EndingChange,
      author: string,
      isOver: (resume: NewJob) => boolean,
    ): Promise<void> {
      const rows = await findHeld(change.transaction, author)
      for (const row of rows.filter(row => isOver(waitingOf(row).resume))) await end(change, row, 'abandoned')
    },

    /** Ends a wait that is over time or whose browser is gone, or a turn that did not continue after its decision. */
    expireJob: {
      lane: 'timers',
      async run({ agent, payload }) {
        const id = String(payload)
        const found = await findTurn(agent.db, id)
        if (found?.status === 'waiting' && (await isBrowserLost(agent, waitingOf(found))))
          return await settle(agent, id, waitingOf(found).approval_id, { error: browserLost })
        await transact(agent, async (transaction, outbox) => {
          const change = { transaction, outbox }
          const row = await findTurn(transaction, id)
          if (row?.status === 'waiting') await expire(change, row)
          else if (row) await end(change, row, 'abandoned')
        })
      },
    } satisfies JobHandler<AgentHandle>,
  }
}

export type WaitingTurns = ReturnType<typeof createWaiting>
