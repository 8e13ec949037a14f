import { type Clock, timestamp } from '#platform/clock.ts'
import type { AppError } from '#platform/errors.ts'
import type { Outbox } from '#platform/jobs/jobs.ts'
import type { AgentDatabase } from '#storage/tables.ts'
import { removeUnusedJobName } from '../conversations/unused-files.ts'
import {
  appendEvents,
  changeInRun,
  moveTurn,
  type TurnRow,
  type TurnStatus,
} from '../rows/turns.repository.ts'
import type { StreamEvent } from '../stream-events.schema.ts'
import { turnJobName, waitKey } from './stored-turn.ts'

export const removeTurnsJobName = 'remove_turns'

/** Storage time of events after the end of their turn, and of turns for repeated messages, in milliseconds. */
export const keptMs = { events: 10 * 60_000, turns: 24 * 3_600_000 }

interface Ending {
  transaction: AgentDatabase
  outbox: Pick<Outbox, 'add' | 'cancel' | 'runNow'>
  clock: Clock
}

interface TurnEnd {
  /** The statuses from which the turn can end, or the run that can end it. */
  from: readonly TurnStatus[] | Pick<TurnRow, 'run'>
  /** The reason why there is no complete answer. */
  error?: Pick<AppError, 'code' | 'message'> | undefined
  /** The last events for readers of the turn. */
  events?: readonly StreamEvent[]
  /** The number of the event before them, if known. */
  after?: number
  /** Files of a message that was never stored. */
  unsent?: readonly unknown[] | undefined
}

/**
 * Ends a turn after an answer, a failure, a stop, a withdrawal or a wait without a decision. Runs in the
 * transaction that stores the answer. Returns false, and changes nothing, if the turn can't end from its current status.
 */
export async function endTurn(
  { transaction, outbox, clock }: Ending,
  { id, question, waiting }: Pick<TurnRow, 'id' | 'question' | 'waiting'>,
  { from, error, events = [], after, unsent = [] }: TurnEnd,
): Promise<boolean> {
  const { message } = JSON.parse(question) as { message: { id: string } }
  const changes = {
    status: 'ended',
    state: error ? JSON.stringify({ error: { code: error.code, message: error.message } }) : null,
    // The message itself is stored separately.
    question: JSON.stringify({ message: { id: message.id } }),
    ended_at: timestamp(clock),
  }
  const ended =
    'run' in from
      ? changeInRun(transaction, { id, ...from }, changes)
      : moveTurn(transaction, id, from, changes)
  if (!(await ended)) return false
  await appendEvents(transaction, id, events, after)
  if (waiting !== null) {
    await outbox.cancel(waitKey(id))
    // Messages that came during the wait are next.
    await outbox.runNow(turnJobName)
  }
  if (unsent.length > 0) await outbox.add({ name: removeUnusedJobName, payload: {} })
  for (const [payload, ms] of Object.entries(keptMs)) {
    const key = `${removeTurnsJobName}:${payload}`
    await outbox.add({ name: removeTurnsJobName, payload, key, runAt: clock.now() + ms })
  }
  return true
}
