import { type Clock, timestamp } from '#platform/clock.ts'
import { diskProblemIn } from '#platform/disk.ts'
import { AppError, conflict } from '#platform/errors.ts'
import { JobAborted } from '#platform/jobs/jobs.ts'
import type { Log } from '#platform/logging/log.ts'
import { withReconnect } from '#platform/transactions/transaction.ts'
import type { ChatMessage } from '../chat.schema.ts'
import { toPublic } from '../rows/messages.repository.ts'
import { type Running, TurnStopped } from '../turn/running.ts'
import type { TurnEvent, TurnOutcome } from '../turn/turn.ts'
import type { HoldWait } from '../waiting/held-waits.ts'
import type { PlannedState, Recording } from '../waiting/recorded-turn.ts'
import { waitsForPerson } from '../waiting/wait-sentences.ts'
import { TurnIsWaiting } from '../waiting/wait-state.ts'
import { checkpointAnswer } from './answer-checkpointer.ts'
import { type AnswerRecorder, createAnswerRecorder } from './answer-recorder.ts'
import type { AnswerStore } from './answer-store.ts'
import type { GiveTitle } from './give-title.ts'
import type { PlannedOutcome } from './planning/turn-plan.ts'
import type { Question } from './question.ts'

/** The end of a question. `assistantMessage` is the stored answer, if there is any. */
export interface Answered {
  assistantMessage: ChatMessage | undefined
  error: AppError | undefined
  /** The turn continues in another process: its conversation stays locked, and its record is stored. */
  isSuspended?: true
  /** The turn is parked: a decision resumes it. */
  isWaiting?: true
}

type TurnEnd = Omit<PlannedOutcome, 'content' | 'toolCalls' | 'toolResults'>

interface Dependencies {
  store: AnswerStore
  running: Pick<Running, 'run'>
  holdWait: HoldWait
  giveTitle: GiveTitle
  clock: Clock
  log: Log
}

/** Answers questions: runs their turns, stores partial answers, renews the lock and releases it. */
export function createAnswering(needs: Dependencies) {
  const { store, running, giveTitle, clock, log } = needs

  async function attempt(
    question: Question,
    emit: (event: TurnEvent) => void,
    ending: AbortController,
  ): Promise<Answered> {
    const { recording } = question
    const recorder = createAnswerRecorder({
      from: recording?.from && { ...recording.from.turn, steps: recording.from.steps },
      id: question.turnId,
      conversationId: question.lock.conversationId,
      createdAt: timestamp(clock),
      model: question.model,
      created_by: question.asker.author,
    })
    let hasLock = true
    const onLockLost = () => {
      hasLock = false
      ending.abort(lockWasLost())
    }
    const checkpointer = checkpointAnswer({ question, recorder, store, clock, log, onLockLost })
    const take = (event: TurnEvent) => {
      recorder.add(event)
      emit(event)
    }
    const end = await question
      .turn(take, ending.signal, recordingOf(question, recorder))
      .catch(cause => turnThatNeverBegan(cause, ending.signal, question))
    await Promise.all([checkpointer.stop(), recording?.settle()])
    const waits = await parked(needs, question, recorder, end)
    if (waits) return waits
    if (!hasLock) return withoutLock(question)
    if (recording && end.end.kind === 'aborted' && isProcessEnding(ending.signal.reason))
      return { assistantMessage: undefined, error: errorOf(end.end, ending.signal), isSuspended: true }
    return await settle(needs, question, recorder, end, ending.signal)
  }

  /** Runs the turn. Never rejects; the lock and the agent are released in any case. */
  function run(question: Question, emit: (event: TurnEvent) => void, client: AbortSignal): Promise<Answered> {
    const work = (ending: AbortController) =>
      attempt(question, emit, ending)
        .catch(async cause => {
          logFailure(log, question, cause)
          const error = notStored(cause, ending.signal)
          // The turn's job retries.
          if (question.recording) return { assistantMessage: undefined, error, isSuspended: true as const }
          // A failure to store the answer must not keep the conversation locked; if this also fails, the lease ends.
          await store.finish(question, undefined).catch(() => false)
          return { assistantMessage: undefined, error }
        })
        .finally(() => question.agent.release())
    return running.run([client, question.agent.signal], work, question.turnId).then((answered: Answered) => {
      const { assistantMessage: answer, error, isWaiting } = answered
      // A turn that is recorded from its beginning gets its title after it has continued.
      const isOver = !isWaiting || question.recording === undefined
      if (answer && isOver && error === undefined && !answer.metadata?.aborted) giveTitle(question, answer)
      return answered
    })
  }

  return {
    run,

    /** Answers a question as a whole, and emits each event. Throws the error that ended the turn, even after a partial answer. */
    async answer(
      question: Question,
      client: AbortSignal,
      emit: (event: TurnEvent) => void = () => {},
    ): Promise<{ userMessage: ChatMessage; assistantMessage: ChatMessage }> {
      const { assistantMessage, error, isWaiting } = await run(question, emit, client)
      if (isWaiting) throw new TurnIsWaiting()
      if (error !== undefined) throw error
      if (assistantMessage === undefined)
        throw conflict('The request was aborted before there was an answer.')
      return { userMessage: toPublic(question.userMessage), assistantMessage }
    },
  }
}

/** Returns undefined if the turn does not wait. */
async function parked(
  { store, holdWait }: Dependencies,
  question: Question,
  recorder: AnswerRecorder,
  turnEnd: TurnEnd,
): Promise<Answered | undefined> {
  const { end, planned } = turnEnd
  if (end.kind !== 'waiting' || planned === undefined) return undefined
  const { id: toolCallId, name, toolVersion, inBrowser: wait } = end.waits
  const message = recorder.message({ ...metadataOf(turnEnd, undefined, false), waiting: true })
  // People see this as the result of a call that waits for approval; the turn continues without it.
  const held = { toolCallId, name, error: waitsForPerson, approval: 'required' as const, toolVersion }
  const shown = { ...message, toolResults: [...(message.toolResults ?? []), ...(wait ? [] : [held])] }
  const state = { ...planned, steps: recorder.steps() }
  let isParked = false
  try {
    isParked = await store.park(question, shown, { call: end.waits, state })
  } finally {
    const { agent, turnId } = question
    if (wait) await holdWait(isParked, { agentId: agent.agentId, turnId, callId: toolCallId, wait })
  }
  return isParked ? { assistantMessage: shown, error: undefined, isWaiting: true } : withoutLock(question)
}

/** Returns the end after a lost lock. The job of a recorded turn continues it. */
function withoutLock({ recording }: Question): Answered {
  return { assistantMessage: undefined, error: lockWasLost(), ...(recording && { isSuspended: true }) }
}

function recordingOf({ recording, park }: Question, recorder: AnswerRecorder): Recording<PlannedState> {
  const record = recording?.record
  return {
    from: recording?.from,
    record: record && (state => record({ ...state, steps: recorder.steps() })),
    parks: park !== undefined,
  }
}

async function settle(
  { store, log }: Dependencies,
  question: Question,
  recorder: AnswerRecorder,
  turnEnd: TurnEnd,
  signal: AbortSignal,
): Promise<Answered> {
  const { end } = turnEnd
  const error = errorOf(end, signal)
  const isStopped = signal.reason instanceof TurnStopped
  const message = recorder.message(metadataOf(turnEnd, error, isStopped))
  const isAnswer = end.kind === 'answered' || isStopped || question.refusal !== undefined
  const isKept = isAnswer || recorder.state() !== ''
  const sent = { passages: turnEnd.shown, steps: recorder.steps() }
  const finish = () => store.finish(question, isKept ? { ...message, sent } : undefined, error)
  // The job of a turn that is recorded tries again by itself.
  if (!(await (question.recording ? finish() : withReconnect(question.agent.db, finish))))
    return { assistantMessage: undefined, error: lockWasLost() }
  if (end.kind === 'failed' && end.error.fault !== 'user') logFailure(log, question, end.error)
  return { assistantMessage: isKept ? message : undefined, error }
}

function logFailure(log: Log, { agent, model }: Question, error: unknown): void {
  log.warn({ err: error, agentId: agent.agentId, model }, 'a turn failed')
}

function metadataOf(turnEnd: TurnEnd, error: AppError | undefined, isStopped: boolean) {
  const { end, output, usage, isTainted, isCutOff, reasoning, toolsUnsupported, toolsRefused, toolsLeftOut } =
    turnEnd
  const { pages, passages } = turnEnd
  return {
    ...(output === undefined ? {} : { output }),
    ...(usage === undefined ? {} : { usage }),
    ...(isTainted ? { tainted: true } : {}),
    ...(isCutOff ? { cutOff: true } : {}),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(toolsUnsupported ? { toolsUnsupported } : {}),
    ...(toolsRefused.length > 0 ? { toolsRefused } : {}),
    ...(toolsLeftOut > 0 ? { toolsLeftOut } : {}),
    ...(pages.length > 0 ? { pages } : {}),
    ...(passages.length > 0 ? { passages } : {}),
    ...(end.kind === 'aborted' ? { [isStopped ? 'stopped' : 'aborted']: true } : {}),
    ...(error === undefined ? {} : { error: error.message }),
  }
}

export type Answering = ReturnType<typeof createAnswering>

/** Returns the error of an abort. Aborts by the server have a reason with an error; a client's has none. */
function errorOf(end: TurnOutcome['end'], signal: AbortSignal): AppError | undefined {
  if (end.kind === 'failed') return end.error
  return end.kind === 'aborted' && signal.reason instanceof AppError ? signal.reason : undefined
}

function turnThatNeverBegan(cause: unknown, signal: AbortSignal, { refusal }: Question): TurnEnd {
  // A turn of an agent that is deleted meanwhile has no settings and tools to begin with.
  const known = isNotFound(cause) ? cause : refusal
  const error = known ?? unexpected('The answer could not be begun.', cause)
  return {
    end: signal.aborted && !known ? { kind: 'aborted' } : { kind: 'failed', error },
    usage: undefined,
    isTainted: false,
    isCutOff: false,
    reasoning: '',
    toolsUnsupported: false,
    toolsRefused: [],
    toolsLeftOut: 0,
    pages: [],
    passages: [],
    shown: '',
  }
}

function isProcessEnding(reason: unknown): boolean {
  return reason instanceof JobAborted || (reason instanceof AppError && reason.code === 'SHUTTING_DOWN')
}

/** Returns the error for a failed write. The signal's reason shows if another process has deleted the agent. */
function notStored(cause: unknown, { reason }: AbortSignal): AppError {
  return isNotFound(reason) ? reason : unexpected('The answer could not be stored.', cause)
}

function isNotFound(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'NOT_FOUND'
}

function unexpected(message: string, cause: unknown): AppError {
  const problem = diskProblemIn(cause)
  if (problem !== undefined) return problem
  return new AppError('INTERNAL_ERROR', message, { cause })
}

function lockWasLost(): AppError {
  return new AppError('CONFLICT', 'Another request has taken this conversation over. Send the message again.')
}
