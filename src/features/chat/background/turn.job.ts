import type { AgentsFeature } from '#features/agents/agents.feature.ts'
import type { CitedPassage } from '#models/language-model/passages.ts'
import { currentActor } from '#platform/actor.ts'
import type { ChangeFeed } from '#platform/change-feed.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import { parseJson } from '#platform/exact-json.ts'
import {
  JobAborted,
  type JobContext,
  type JobHandler,
  JobYields,
  type Transact,
} from '#platform/jobs/jobs.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Answering } from '../answering/answering.ts'
import type { Question } from '../answering/question.ts'
import type { Questions } from '../answering/questions.ts'
import { completion, startOf } from '../answering/stream-answer.ts'
import { type ChatEvents, eventsChange } from '../chat.events.ts'
import type { ConversationLock } from '../conversations/conversation-lock.ts'
import type { Asker } from '../reach.ts'
import { findMessage } from '../rows/messages.repository.ts'
import {
  beginRun,
  findTurn,
  findWaiting,
  openTurns,
  removeEnded,
  sizeOfLog,
  type TurnRow,
} from '../rows/turns.repository.ts'
import type { StreamEvent } from '../stream-events.schema.ts'
import { TurnStopped } from '../turn/running.ts'
import type { TurnEvent } from '../turn/turn.ts'
import { endTurn, keptMs } from '../waiting/end-turn.ts'
import { endAnswer } from '../waiting/ended-answer.ts'
import type { RecordedEnd } from '../waiting/recorded-turn.ts'
import { type StoredState, turnJob } from '../waiting/stored-turn.ts'
import { shownWaiting } from '../waiting/wait-state.ts'
import type { WaitingTurns } from '../waiting/waiting.service.ts'
import type { StoredQuestion } from './accept-turn.ts'
import { TurnLog } from './turn-log.ts'

/** Time until the retry of a turn whose conversation is in use, in milliseconds. */
const busyMs = 300
/** Time until the retry of a turn that is queued behind a waiting one, in milliseconds. */
const behindMs = 30_000
/** Time for another process to replace one that ends, in milliseconds. */
const endingMs = 1_000

interface Dependencies {
  waiting: Pick<WaitingTurns, 'park'>
  questions: Questions
  answering: Pick<Answering, 'run'>
  lock: ConversationLock
  stillPermitted: AgentsFeature['stillPermitted']
  transact: Transact<ChatEvents>
  changes: ChangeFeed
  clock: Clock
  /** True if no other process uses the databases. */
  isExclusive: boolean
}

/** Runs a turn, or continues it where an earlier run was last recorded. */
export function createTurnJob(needs: Dependencies): JobHandler<AgentHandle> {
  const { clock } = needs
  return {
    lane: 'turns',

    async run(context) {
      const { agent, payload } = context
      const row = await findTurn(agent.db, String(payload))
      if (row === undefined || row.status === 'ended' || row.status === 'waiting') return
      const ahead = await findWaiting(agent.db, row.conversation_id)
      // The end of that turn runs this one at once, unless it ends right now.
      const waitEnd = Math.min(Date.parse(ahead?.waiting.until ?? ''), clock.now() + behindMs)
      const until = ahead ? waitEnd : clock.now() + busyMs
      const busy = new JobYields({ until })
      const [first] = await openTurns(agent.db, row.conversation_id)
      if (first?.id !== row.id) throw busy
      const { actor } = JSON.parse(row.question) as StoredQuestion
      await currentActor
        .run(actor, runTurnOnce, needs, context, row)
        .catch(async error => {
          if (!isRefusal(error) || context.signal.aborted) throw error
          await refuse(needs, context, error)
        })
        .catch(error => {
          throw isBusy(error) ? busy : error
        })
    },

    onFailed: (context, message) => refuse(needs, context, new AppError('INTERNAL_ERROR', message)),
  }
}

/** Ends a turn with an error. A message that is not stored yet is stored now, with an answer that has the error. */
async function refuse(needs: Dependencies, context: JobContext<AgentHandle>, error: AppError): Promise<void> {
  const { agent, payload, signal } = context
  const row = await findTurn(agent.db, String(payload))
  if (row === undefined) return
  const { isNew, actor } = JSON.parse(row.question) as StoredQuestion
  if (!isNew || row.started_at !== null) return await endUnanswered(needs, agent, row.id, error)
  await currentActor.run(actor, runTurnOnce, needs, context, row, error).catch(async cause => {
    if (!isRefusal(cause) || signal.aborted) throw cause
    // The sender may no longer chat, or the conversation is gone.
    await endUnanswered(needs, agent, row.id, error)
  })
}

/** Ends the turn. The last event has the reason; the answer remains as it was stored. */
async function endUnanswered(needs: Dependencies, agent: AgentHandle, turnId: string, error: AppError) {
  const turn = await findTurn(agent.db, turnId)
  if (turn === undefined) return
  const { id, conversation_id: conversationId, lock_token: token } = turn
  await needs.transact(agent, async (transaction, outbox) => {
    const events = [lastEvent(undefined, error)]
    await endTurn({ ...needs, transaction, outbox }, turn, { from: turn, error, events })
    const end = { how: 'abandoned', error: error.message, at: timestamp(needs.clock) } as const
    if (turn.waiting !== null && turn.ended_at === null) await endAnswer(transaction, turn, end)
    if (token !== null) await needs.lock.release(transaction, { conversationId, token })
  })
  notify(needs, agent, id)
}

function isBusy(error: unknown): boolean {
  return error instanceof AppError && ['CONVERSATION_LOCKED', 'CONVERSATION_WAITING'].includes(error.code)
}

function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && error.isPermanent && !isBusy(error)
}

function notify({ changes }: Dependencies, { agentId }: AgentHandle, id: string): void {
  if (changes.isFollowed(agentId)) changes.report(agentId, { type: eventsChange, id })
}

/** @param refusal the reason why the turn ends at once, if any */
async function runTurnOnce(
  needs: Dependencies,
  context: JobContext<AgentHandle>,
  row: TurnRow,
  refusal?: AppError,
): Promise<void> {
  const { agent, signal } = context
  const { question, run } = await take(needs, agent, row, refusal)
  const { log, recording, lost, isBegun } = await attach(needs, context, { ...row, run })
  let isStarted = isBegun
  const start = (passages: CitedPassage[]) => {
    if (!isStarted) log.add(startOf(question, passages))
    isStarted = true
  }
  const emit = (event: TurnEvent) => {
    if (event.type === 'retrieved') start(event.passages)
    // Readers of the events are not necessarily permitted to drive the browser.
    else if (event.type === 'takeover_requested') log.add({ ...event, takeover_url: null })
    else if (event.type !== 'reading') log.add(event)
  }
  const settle = () => {
    start([])
    return log.settle()
  }
  const ending =
    row.status === 'stopping' ? AbortSignal.abort(new TurnStopped()) : AbortSignal.any([signal, lost])
  const { isSuspended, error } = await needs.answering.run(
    {
      ...question,
      recording: { ...recording, settle },
      park: parkOf(needs, log, { ...row, run, lock_token: question.lock.token }, question),
    },
    emit,
    ending,
  )
  notify(needs, agent, row.id)
  signal.throwIfAborted()
  if (!isSuspended) return
  if (error?.code === 'SHUTTING_DOWN') throw new JobYields({ until: needs.clock.now() + endingMs })
  throw error ?? lost.reason
}

/** Returns the asker with its current reach, which is smaller for a former admin. Throws for an asker who may no longer chat. */
async function askerNow(
  { stillPermitted }: Dependencies,
  agentId: string,
  { asker, actor }: StoredQuestion,
): Promise<Asker> {
  const isAdmin = actor === undefined || (await stillPermitted(agentId, actor)).isAdmin
  if (isAdmin || asker.isOutsider) return asker
  return { ...asker, isOutsider: true, reach: { author: asker.author } }
}

/** Locks the conversation, and stores an unstored message. */
async function take(needs: Dependencies, { agentId, db }: AgentHandle, row: TurnRow, refusal?: AppError) {
  const { questions, clock } = needs
  const stored = JSON.parse(row.question) as StoredQuestion
  const { message, isNew, title: former, options } = stored
  const asker = await askerNow(needs, agentId, stored)
  const { lock_token: token, conversation_id: conversationId } = row
  const isStored = !isNew || (await findMessage(db, message.id)) !== undefined
  await using draft = await (isStored
    ? questions.draftAgain(agentId, message.id, options, asker)
    : questions.draftNew(agentId, { ...options, id: message.id, sentAt: row.created_at }, asker, refusal))
  let run: number | undefined
  const question = await draft.accept({
    turnId: row.id,
    held: token === null ? undefined : { conversationId, token },
    async also(transaction, lock) {
      run = await beginRun(transaction, row.id, lock.token, timestamp(clock))
      if (run === undefined) throw new JobAborted('cancelled')
    },
  })
  const title = former === undefined ? undefined : { former, model: draft.settings.title_model }
  return { question: { ...question, isNew, title }, run: run ?? 0 }
}

/** Writes the events to the log, and the log to the database. */
async function attach(
  needs: Dependencies,
  { agent, log: lines, progressed }: JobContext<AgentHandle>,
  turn: TurnRow,
) {
  const state = turn.state === null ? undefined : (parseJson(turn.state) as StoredState)
  const size = await sizeOfLog(agent.db, turn.id)
  const isBegun = size.last > 0
  const index = state?.deltas ?? 0
  const lost = new AbortController()
  const log = new TurnLog({
    db: agent.db,
    isExclusive: needs.isExclusive,
    turn,
    start: { ...size, deltas: index },
    onWritten: () => notify(needs, agent, turn.id),
    onLost(error) {
      lines.warn({ err: error, turnId: turn.id }, 'the events of a turn could not be stored')
      lost.abort(new JobAborted('lease lost', { cause: error }))
    },
  })
  if (isBegun) log.add({ type: 'content_reset', index, content: state?.recorded.turn.content ?? '' })
  const recording: Omit<RecordedEnd, 'settle'> = {
    from: state?.recorded,
    async record(recorded) {
      await log.record(deltas => JSON.stringify({ recorded, deltas } satisfies StoredState))
      await progressed()
    },
    end: endOf(needs, log, turn),
  }
  return { log, recording, lost: lost.signal, isBegun }
}

function parkOf(
  { waiting }: Dependencies,
  log: TurnLog,
  row: TurnRow,
  { agent, approvalTimeout: timeout }: Question,
): NonNullable<Question['park']> {
  return async (transaction, outbox, { call, state: recorded }) => {
    const state = { recorded, deltas: log.deltas() }
    const parked = { row, call, state, timeout, resume: turnJob(row.id) }
    const held = await waiting.park({ transaction, outbox }, agent.agentId, parked)
    await log.append(transaction, { type: 'turn_waiting', ...shownWaiting(held) })
  }
}

/** Stores the end of a turn within the transaction that stores the answer. */
function endOf({ clock }: Dependencies, log: TurnLog, row: TurnRow): RecordedEnd['end'] {
  return async (transaction, outbox, { assistantMessage: answer, error }) => {
    const last = log.lastEvents(lastEvent(answer, error), answer?.content)
    await endTurn({ transaction, outbox, clock }, row, { from: row, error, ...last })
  }
}

function lastEvent(
  message: Parameters<typeof completion>[0] | undefined,
  error: AppError | undefined,
): StreamEvent {
  if (error !== undefined) return { type: 'error', message: error.message, code: error.code }
  if (message !== undefined) return completion(message)
  return { type: 'error', message: 'The turn ended before there was an answer.', code: 'CONFLICT' }
}

/** Deletes ended turns and their events after their storage time. */
export function createRemoveTurnsJob({ clock }: { clock: Clock }): JobHandler<AgentHandle> {
  return {
    lane: 'timers',
    makesRoom: true,
    async run({ agent, payload }) {
      const what = payload === 'events' ? 'events' : 'turns'
      const before = (ms: number) => new Date(clock.now() - ms).toISOString()
      const kept = { eventsUntil: before(keptMs.events), turnsUntil: before(keptMs.turns) }
      const next = await inTransaction(agent.db, transaction => removeEnded(transaction, kept))
      const ended = next[what]
      if (ended !== null) throw new JobYields({ until: Date.parse(ended) + keptMs[what] })
    },
  }
}
