import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import { parseJson } from '#platform/exact-json.ts'
import type { JobHandler, NewJob, Outbox, Transact } from '#platform/jobs/jobs.ts'
import { JobYields } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { RecordedEnd } from './answering/question.ts'
import { requestApproval, settleApprovals } from './approvals.repository.ts'
import type { ChatEvents } from './chat.events.ts'
import type { ChatMessage } from './chat.schema.ts'
import type { ConversationLock } from './conversation-lock.ts'
import { findMessage, putMessage } from './messages.repository.ts'
import type { StoredState } from './stored-turn.ts'
import { endedQuestion, lastRead, removeLater, turnJobName } from './stored-turn.ts'
import type { StreamEvent } from './stream-events.schema.ts'
import type { WaitingCall } from './turn/turn.ts'
import type { TurnState } from './turn/turn-state.ts'
import type { TurnRow, TurnStatus, Waiting } from './turn-rows.repository.ts'
import {
  changeInRun,
  findDecided,
  findHeld,
  findTurn,
  findWaiting,
  insertEvents,
  moveTurn,
  putWaiting,
  sizeOfLog,
  waitingOf,
} from './turn-rows.repository.ts'
import type { WaitEnd } from './wait-sentences.ts'
import { browserLost, expiryOf, reasonOf, refused, wordsOf } from './wait-sentences.ts'

export const expireJobName = 'turn.expire'

/** Until a decision counts as lost that nothing has gone on with, in milliseconds: its schedule or workflow is gone. */
const abandonedMs = 24 * 3_600_000

/** Until it is looked again whether a browser is still there that a turn waits in, in milliseconds. */
const lookMs = 3_000

const endsFrom: Record<WaitEnd, readonly TurnStatus[]> = {
  overtaken: ['waiting'],
  stopped: ['waiting', 'running', 'stopping'],
  abandoned: ['waiting', 'running', 'stopping'],
}

interface Change {
  transaction: Kysely<AgentTables>
  outbox: Outbox<ChatEvents>
}

/** Where turns only end, without an event. */
type EndingChange = Pick<Change, 'transaction'> & { outbox: Pick<Outbox, 'add' | 'cancel' | 'runNow'> }

/** A turn whose call waits, with all that it needs to go on. */
export interface Parked {
  row: Pick<
    TurnRow,
    'id' | 'conversation_id' | 'started_by' | 'client_message_id' | 'question' | 'lock_token' | 'run'
  >
  call: WaitingCall
  state: StoredState
  /** Of the agent, in seconds. */
  timeout: number
  resume: NewJob & { key: string }
}

/** How a wait in a browser has ended. */
export type Settled = { result: string } | { error: string } | 'expired'

interface Dependencies {
  lock: ConversationLock
  /** Whether there is still a browser behind a session, in any process. */
  isBrowserOpen(agent: AgentHandle, sessionId: string): Promise<boolean>
  transact: Transact<ChatEvents>
  clock: Clock
}

const jobOf = (turnId: string, runAt: number) => ({
  ...{ name: expireJobName, payload: turnId, key: waitKey(turnId), runAt },
})

async function again(outbox: EndingChange['outbox'], next: NewJob & { key: string }): Promise<void> {
  await outbox.cancel(next.key)
  await outbox.add(next)
}

/** When to look whether a turn has to go on without a person: at the end of its time, or when its browser may be gone. */
function lookAt({ session_id, until }: Waiting, clock: Clock): number {
  const end = Date.parse(until)
  return session_id === undefined ? end : Math.min(end, clock.now() + lookMs)
}

/** What a turn that ends keeps in its row. */
function endOf(row: TurnRow, error: Pick<AppError, 'code' | 'message'> | undefined, ended_at: string) {
  const { message: asked } = JSON.parse(row.question) as { message: { id: string } }
  const state = JSON.stringify(error ? { error: { code: error.code, message: error.message } } : {})
  return { status: 'ended', state, question: endedQuestion(asked.id), ended_at }
}

/** Turns that begin to wait, and that go on. */
function createParking({ clock }: Pick<Dependencies, 'clock'>) {
  /** Returns what the turn waits for. */
  async function park(
    { transaction, outbox }: Change,
    agentId: string,
    { row, call, state, timeout, resume }: Parked,
  ): Promise<Waiting> {
    const since = timestamp(clock)
    const until = new Date(clock.now() + timeout * 1000).toISOString()
    const { id: approval_id, name: tool, toolVersion: tool_version, rule, approvers, inBrowser } = call
    const { arguments: given } = call
    const why = inBrowser?.reason ?? reasonOf[rule]
    const shown = { approval_id, tool, arguments: given, rule, why, approvers, until }
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

  /** False if it no longer waits. */
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

    /** The decision of a person; false if it no longer waits. */
    decide(change: Change, row: TurnRow, isApproved: boolean): Promise<boolean> {
      const { tool_version: toolVersion } = waitingOf(row)
      return resume(change, row, isApproved ? { toolVersion } : { error: refused })
    },

    /** Of a turn that goes on in the job of its caller, which has no readers. */
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
          // After a failure its job goes on with it, or abandons it.
          if (error ? !isWaitOver(error) : !answer || answer.metadata?.aborted) return
          if (!(await changeInRun(transaction, row, endOf(row, error, timestamp(clock))))) throw overrun()
          await outbox.cancel(waitKey(row.id))
          await outbox.runNow(turnJobName)
          await removeLater(outbox, clock)
        },
      }
    },
  }
}

/** Turns whose waits end without a decision. */
function createEnds({ lock, clock }: Pick<Dependencies, 'lock' | 'clock'>) {
  /** Ends the turn, and keeps what was said. False if it no longer waits. */
  async function end(change: EndingChange, row: TurnRow, how: WaitEnd): Promise<boolean> {
    const { transaction, outbox } = change
    const { resume: next } = waitingOf(row)
    const message = wordsOf[how]
    const error = { code: 'CONFLICT' as const, message }
    const at = timestamp(clock)
    if (!(await moveTurn(transaction, row.id, endsFrom[how], endOf(row, error, at)))) return false
    const held = { conversationId: row.conversation_id, token: row.lock_token ?? 0 }
    // Whoever still runs it writes nothing more.
    await lock.revoke(transaction, held)
    const answer = await endAnswer(transaction, row, { how, error: message, at })
    await outbox.cancel(jobOf(row.id, 0).key)
    if (next.name === turnJobName) {
      const last: StreamEvent =
        how === 'stopped' && answer ? completionOf(answer) : { type: 'error', ...error }
      await insertLast(transaction, row.id, last)
    } else if (how !== 'abandoned') await again(outbox, next)
    // Messages that came while it waited are next.
    await outbox.runNow(turnJobName)
    await removeLater(outbox, clock)
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

async function insertLast(
  transaction: Kysely<AgentTables>,
  turn_id: string,
  event: StreamEvent,
): Promise<void> {
  const { last } = await sizeOfLog(transaction, turn_id)
  await insertEvents(transaction, { turn_id, last: last + 1, events: JSON.stringify(event) })
}

function overrun(): Error {
  return new Error('another run has begun, or the turn has ended')
}

function completionOf({ id: assistantMessageId, toolCalls, toolResults }: ChatMessage): StreamEvent {
  return { type: 'message_complete', assistantMessageId, toolCalls, toolResults }
}

/** Turns that wait for a decision: parked, decided on, and ended without. All but the job is within transactions of others. */
export function createWaiting(needs: Dependencies) {
  const { isBrowserOpen, transact, clock } = needs
  const { resume, ...parking } = createParking(needs)
  const ends = createEnds(needs)
  const { end } = ends

  async function expire(change: Change, row: TurnRow): Promise<void> {
    await settleApprovals(change.transaction, row.id, timestamp(clock))
    await resume(change, row, { error: expiryOf(waitingOf(row)), ends: true })
  }

  /** Gives a call that waits in a browser its result, and has the turn go on; does nothing if it no longer waits. */
  const settle = (agent: AgentHandle, turnId: string, callId: string, settled: Settled): Promise<void> =>
    transact(agent, async (transaction, outbox) => {
      const row = await findTurn(transaction, turnId)
      if (row?.status !== 'waiting' || waitingOf(row).approval_id !== callId) return
      const change = { transaction, outbox }
      await (settled === 'expired' ? expire(change, row) : resume(change, row, settled))
    })

  /** Has a call in a browser wait for longer; does nothing if it no longer waits, or waits as long already. */
  const prolong = (agent: AgentHandle, turnId: string, callId: string, end: number): Promise<void> =>
    transact(agent, async (transaction, outbox) => {
      const row = await findTurn(transaction, turnId)
      const held = row?.status === 'waiting' ? waitingOf(row) : undefined
      if (held?.approval_id !== callId || Date.parse(held.until) >= end) return
      const waiting = { ...held, until: new Date(end).toISOString() }
      const isMoved = await moveTurn(transaction, turnId, ['waiting'], { waiting: JSON.stringify(waiting) })
      if (isMoved) await again(outbox, jobOf(turnId, lookAt(waiting, clock)))
    })

  /** False for a turn that waits for approval, and at the end of the time. Throws JobYields while there is a browser. */
  async function isBrowserLost(agent: AgentHandle, waiting: Waiting): Promise<boolean> {
    const { session_id, until } = waiting
    if (session_id === undefined || clock.now() >= Date.parse(until)) return false
    if (await isBrowserOpen(agent, session_id)) throw new JobYields({ until: lookAt(waiting, clock) })
    return true
  }

  return {
    ...parking,
    ...ends,

    ...{ settle, prolong },

    /** Ends the turn of a message that was decided on where what asked it is gone. */
    abandon: (agent: AgentHandle, messageId: string): Promise<void> =>
      transact(agent, async (transaction, outbox) => {
        const row = await findDecided(transaction, messageId)
        if (row) await end({ transaction, outbox }, row, 'abandoned')
      }),

    /** Within the caller's transaction: ends those turns of an author that have waited, and that no job is to go on with. */
    async abandonAll(
      change: EndingChange,
      author: string,
      isOver: (resume: NewJob) => boolean,
    ): Promise<void> {
      const rows = await findHeld(change.transaction, author)
      for (const row of rows.filter(row => isOver(waitingOf(row).resume))) await end(change, row, 'abandoned')
    },

    /** Ends a wait whose time is over or whose browser is gone, or a turn that nothing has gone on with after its decision. */
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

/** For the job that has a turn answered: it ends, since the end of the wait has it run again. */
export class TurnIsWaiting extends Error {
  constructor() {
    super('the turn waits for a person')
  }
}

/** The turn has ended, which no further run of its job changes. */
class WaitEnded extends AppError {}

/** Whether it says, in words for all, why a turn ended that has waited. */
export function isWaitOver(error: unknown): error is AppError {
  if (!(error instanceof AppError)) return false
  return error.code === 'APPROVAL_EXPIRED' || (error instanceof WaitEnded && error.code === 'CONFLICT')
}

/** Throws how a turn stands that has waited, unless it goes on. */
export function requireDecided(row: TurnRow): void {
  if (row.status === 'waiting') throw new TurnIsWaiting()
  if (row.status !== 'ended') return
  const { error } = JSON.parse(row.state ?? '{}') as { error?: { code: AppError['code']; message: string } }
  throw new WaitEnded(error?.code ?? 'CONFLICT', error?.message ?? wordsOf.abandoned)
}

export const waitKey = (turnId: string) => `turn-wait:${turnId}`

/** As people and readers see it. */
export function shownWaiting({
  approval_id,
  tool_version: _,
  since: _since,
  resume: _resume,
  read: _read,
  ...shown
}: Waiting) {
  return shown.session_id === undefined ? { ...shown, approval_id } : shown
}

/** Within the transaction that ends a turn which has waited. */
export async function endAnswer(
  transaction: Kysely<AgentTables>,
  row: Pick<TurnRow, 'id' | 'waiting'>,
  { how, error, at }: { how: WaitEnd; error: string; at: string },
): Promise<ChatMessage | undefined> {
  const said = await findMessage(transaction, row.id)
  await settleApprovals(transaction, row.id, at, said?.metadata?.waiting ? 'denied' : 'done')
  const answer = said && endedMessage(said, waitingOf(row), error, how)
  if (answer) await putMessage(transaction, answer)
  return answer
}

/** Its call may have had its result since. */
function endedMessage(
  message: ChatMessage,
  { approval_id: toolCallId, tool: name }: Waiting,
  error: string,
  how: WaitEnd,
): ChatMessage {
  const others = message.toolResults?.filter(result => result.toolCallId !== toolCallId) ?? []
  const isOpen = message.metadata?.waiting === true
  const toolResults = isOpen ? [...others, { toolCallId, name, error }] : message.toolResults
  const { waiting: _, ...metadata } = message.metadata ?? {}
  // Of a turn that has gone on, its own error says why it ended.
  const ended = how === 'stopped' ? { stopped: true } : { error: metadata.error ?? error }
  return { ...message, toolResults, metadata: { ...metadata, ...ended } }
}
