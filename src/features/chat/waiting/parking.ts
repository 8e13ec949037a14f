import type { Kysely } from 'kysely'
import { type Clock, timestamp } from '#platform/clock.ts'
import { parseJson } from '#platform/exact-json.ts'
import type { NewJob, Outbox } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { ChatEvents } from '../chat.events.ts'
import { requestApproval } from '../rows/approvals.repository.ts'
import {
  changeInRun,
  moveTurn,
  putWaiting,
  type TurnRow,
  type Waiting,
  waitingOf,
} from '../rows/turns.repository.ts'
import type { WaitingCall } from '../turn/turn.ts'
import type { TurnState } from '../turn/turn-state.ts'
import { endTurn } from './end-turn.ts'
import type { RecordedEnd } from './recorded-turn.ts'
import { lastRead, type StoredState, waitKey } from './stored-turn.ts'
import { reasonOf, refused } from './wait-sentences.ts'
import { isWaitOver } from './wait-state.ts'

export const expireJobName = 'turn.expire'

/** Time until an unused decision is dropped (ms): its schedule or workflow was deleted. */
const abandonedMs = 24 * 3_600_000

/** Interval (ms) of the check that the browser of a waiting turn still exists. */
const lookMs = 3_000

export interface Change {
  transaction: Kysely<AgentTables>
  outbox: Outbox<ChatEvents>
}

/** A change that only ends turns, without an event. */
export type EndingChange = Pick<Change, 'transaction'> & { outbox: Pick<Outbox, 'add' | 'cancel' | 'runNow'> }

/** A turn whose call waits, with everything that it needs to continue. */
export interface Parked {
  row: Pick<
    TurnRow,
    'id' | 'conversation_id' | 'started_by' | 'client_message_id' | 'question' | 'lock_token' | 'run'
  >
  call: WaitingCall
  state: StoredState
  /** The agent's time limit, in seconds. */
  timeout: number
  resume: NewJob & { key: string }
}

export const jobOf = (turnId: string, runAt: number) => ({
  ...{ name: expireJobName, payload: turnId, key: waitKey(turnId), runAt },
})

export async function again(outbox: EndingChange['outbox'], next: NewJob & { key: string }): Promise<void> {
  await outbox.cancel(next.key)
  await outbox.add(next)
}

/** Returns when to check for the end of a wait: at its time limit, or earlier if its browser might be gone. */
export function lookAt({ session_id, until }: Waiting, clock: Clock): number {
  const end = Date.parse(until)
  return session_id === undefined ? end : Math.min(end, clock.now() + lookMs)
}

/** Parks and resumes turns. */
export function createParking({ clock }: { clock: Clock }) {
  /** Returns the wait of the turn. */
  async function park(
    { transaction, outbox }: Change,
    agentId: string,
    { row, call, state, timeout, resume }: Parked,
  ): Promise<Waiting> {
    const since = timestamp(clock)
    const until = new Date(clock.now() + timeout * 1000).toISOString()
    const { id: approval_id, name: tool, toolVersion: tool_version, rule, approvers, inBrowser } = call
    const { arguments: given, sends_to } = call
    const sent = sends_to === undefined ? {} : { sends_to }
    const why = inBrowser?.reason ?? call.why ?? reasonOf[rule]
    const shown = { approval_id, tool, arguments: given, rule, why, ...sent, approvers, until }
    const session = inBrowser && { session_id: inBrowser.session_id }
    const read = lastRead(state)
    const waiting: Waiting = { ...shown, ...session, read, tool_version, since, resume }
    const isPut = await putWaiting(transaction, {
      ...{ ...row, status: 'waiting' },
      ...{ state: JSON.stringify(state), waiting: JSON.stringify(waiting) },
      ...{ created_at: since, started_at: since, ended_at: null },
    })
    if (!isPut) throw overrun()
    await again(outbox, jobOf(row.id, lookAt(waiting, clock)))
    if (inBrowser) return waiting
    const place = { conversation_id: row.conversation_id, message_id: row.id }
    await requestApproval(transaction, { ...place, call, at: since })
    await outbox.emit('approval.requested', {
      ...{ agent_id: agentId, ...place, turn_id: row.id, tool_call_id: approval_id, tool },
      ...{ arguments: given, approval: why, expires_at: until },
    })
    return waiting
  }

  /** Returns false if the turn no longer waits. */
  async function resume(
    change: Change,
    row: TurnRow,
    decision: NonNullable<TurnState['decision']>,
  ): Promise<boolean> {
    const waiting = waitingOf(row)
    const state = parseJson(row.state ?? '') as StoredState
    state.recorded.turn.decision = decision
    const changes = { status: 'running', state: JSON.stringify(state) }
    if (!(await moveTurn(change.transaction, row.id, ['waiting'], changes))) return false
    await again(change.outbox, jobOf(row.id, clock.now() + abandonedMs))
    await again(change.outbox, waiting.resume)
    return true
  }

  return {
    park,
    resume,

    /** Applies a person's decision; returns false if the turn no longer waits. */
    decide(change: Change, row: TurnRow, isApproved: boolean): Promise<boolean> {
      const { tool_version: toolVersion } = waitingOf(row)
      return resume(change, row, isApproved ? { toolVersion } : { error: refused })
    },

    /** Returns the record of a turn that continues in its caller's job, which has no readers. */
    recordingOf({ db }: AgentHandle, row: TurnRow): RecordedEnd {
      const { recorded } = parseJson(row.state ?? '') as StoredState
      return {
        from: recorded,
        async record(recorded) {
          const state = JSON.stringify({ recorded, deltas: 0 } satisfies StoredState)
          if (!(await changeInRun(db, row, { state }))) throw overrun()
        },
        settle: async () => {},
        async end(transaction, outbox, { assistantMessage: answer, error }) {
          // After a failure, the turn's job retries or abandons it.
          if (error ? !isWaitOver(error) : !answer || answer.metadata?.aborted) return
          if (!(await endTurn({ transaction, outbox, clock }, row, { from: row, error }))) throw overrun()
        },
      }
    },
  }
}

function overrun(): Error {
  return new Error('another run has begun, or the turn has ended')
}
