import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { ChangeFeed } from '#platform/change-feed.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError, notFound } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { authorsIn, sightOf } from '../reach.ts'
import { hasConversation } from '../rows/conversations.repository.ts'
import { findMessage } from '../rows/messages.repository.ts'
import {
  findMarked,
  findStanding,
  findWaiting,
  hasEnded,
  type MarkedTurn,
  moveTurn,
  openTurns,
  type TurnRow,
  waitingOf,
} from '../rows/turns.repository.ts'
import type { Running } from '../turn/running.ts'
import { type CurrentTurn, eventsPath, type StoppedTurn } from '../turns.schema.ts'
import { turnJobName } from '../waiting/stored-turn.ts'
import { shownWaiting } from '../waiting/wait-state.ts'
import type { BackgroundTurns } from './accept-turn.ts'

/** Max wait of a stop for the end of the turn, and the interval of its checks, in milliseconds. */
const stopMs = { longest: 2_000, pause: 50 }

interface Dependencies {
  running: Pick<Running, 'stop'>
  changes: Pick<ChangeFeed, 'call' | 'onCall'>
  background: Pick<BackgroundTurns, 'withdraw' | 'endWait'>
  clock: Clock
}

/** Reads and stops the turns of conversations, in any process. */
export function createTurnsService({ running, changes, background, clock }: Dependencies) {
  changes.onCall(turnId => void running.stop(turnId))

  /** Returns the current turn. Throws NOT_FOUND for a conversation that the caller can't see. */
  async function current(caller: FastifyRequest, conversationId: string): Promise<CurrentTurn | null> {
    const { agentId, db } = caller.agent
    const waits = await findWaiting(db, conversationId)
    const waiting = waits && (await findStanding(db, waits.id, sightOf(caller)))
    if (waiting) {
      const { id, started_by } = waiting
      const held = waitingOf(waiting)
      const shown = { waiting: shownWaiting(held), ...eventsOf(agentId, waiting) }
      return { id, status: 'waiting', since: held.since, started_by, ...shown }
    }
    const turn = await findMarked(db, { conversationId }, sightOf(caller), timestamp(clock))
    if (turn?.isRunning) {
      const running = { id: turn.id, status: 'running', since: turn.since, started_by: turn.by } as const
      return { ...running, ...eventsOf(agentId, await findStanding(db, turn.id)) }
    }
    if (turn === undefined && !(await hasConversation(db, conversationId, sightOf(caller))))
      throw notFound('Conversation')
    const [open] = await openTurns(db, conversationId)
    if (open === undefined) return null
    const { id, status, started_by, started_at, created_at } = open
    const since = started_at ?? created_at
    const known = { id, status: status as CurrentTurn['status'], since, started_by }
    return { ...known, ...eventsOf(agentId, open) }
  }

  async function answerOf(caller: FastifyRequest, turnId: string) {
    const message = await findMessage(caller.agent.db, turnId, sightOf(caller))
    return message?.role === 'assistant' ? message : undefined
  }

  /** Ends a turn in any process, also if it begins to wait meanwhile; returns false after the max wait. */
  async function ended(agent: AgentHandle, turnId: string, look: () => Promise<MarkedTurn | undefined>) {
    changes.call(agent.agentId, turnId)
    for (const since = performance.now(); performance.now() - since < stopMs.longest; ) {
      await running.stop(turnId)
      if (await background.endWait(agent, turnId)) return true
      if (!(await look())?.isRunning) return true
      await delay(stopMs.pause)
    }
    return false
  }

  return {
    current,

    /**
     * Ends a turn, in any process, and waits for its end. Throws NOT_FOUND for a turn that the caller can't see, FORBIDDEN for
     * one that someone else began, unless the caller is an admin.
     */
    async stop(caller: FastifyRequest, turnId: string): Promise<StoppedTurn> {
      const { agent } = caller
      const look = () => findMarked(agent.db, { turnId }, sightOf(caller), timestamp(clock))
      const turn = await look()
      const row = await findStanding(agent.db, turnId, sightOf(caller))
      const by = turn?.by ?? row?.started_by ?? (await answerOf(caller, turnId))?.created_by
      if (by === undefined) throw notFound('Turn')
      if (!caller.isAdmin && !authorsIn(caller).includes(by)) throw startedByAnother()
      const isOver = (await background.endWait(agent, turnId)) || (await background.withdraw(agent, turnId))
      if (isOver) return { id: turnId, status: 'stopped' }
      // If no process runs the turn now, the next one that does ends it.
      const isMarked = await moveTurn(agent.db, turnId, ['running', 'stopping'], { status: 'stopping' })
      if (turn?.isRunning && !(await ended(agent, turnId, look))) return { id: turnId, status: 'stopping' }
      if (isMarked && !(await hasEnded(agent.db, turnId))) return { id: turnId, status: 'stopping' }
      const isStopped = (await answerOf(caller, turnId))?.metadata?.stopped === true
      return { id: turnId, status: isStopped ? 'stopped' : 'ended' }
    },
  }
}

export type TurnsService = ReturnType<typeof createTurnsService>

/** Returns the events of background turns alone: others that have waited continue in their caller's job, without readers. */
function eventsOf(agentId: string, row: Pick<TurnRow, 'id' | 'waiting'> | undefined) {
  const isRead = row && (row.waiting === null || waitingOf(row).resume.name === turnJobName)
  return isRead ? { events: eventsPath(agentId, row.id) } : {}
}

function startedByAnother(): AppError {
  return new AppError('FORBIDDEN', 'A turn can be stopped by whoever began it, and by admins and owners.')
}
