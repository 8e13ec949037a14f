import { once } from 'node:events'
import { AppError } from '#platform/errors.ts'
import type { NewJob } from '#platform/jobs/jobs.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { AgentDatabase } from '#storage/tables.ts'
import type { ChatMessage } from '../chat.schema.ts'
import { conversationLocked } from '../conversations/conversation-lock.ts'
import type { ConversationsService } from '../conversations/conversations.service.ts'
import type { Asker } from '../reach.ts'
import type { Lock } from '../rows/conversation-lock.repository.ts'
import { findMessage, findNext, isWholeAnswer, toPublic } from '../rows/messages.repository.ts'
import { beginRun, findByClientId, type TurnRow } from '../rows/turns.repository.ts'
import { requireDecided } from '../waiting/wait-state.ts'
import type { WaitingTurns } from '../waiting/waiting.service.ts'
import type { Answering } from './answering.ts'
import type { Question } from './question.ts'
import type { QuestionInput, Questions } from './questions.ts'

/**
 * The job that answers: it ends while the turn waits, and runs again when the wait is over. After a failure it also continues
 * a turn that has waited, until the turn is abandoned.
 */
interface CallerJob {
  signal: AbortSignal
  resume: NewJob & { key: string }
}

interface Dependencies {
  waiting: WaitingTurns
  agentDatabases: AgentDatabases
  conversations: ConversationsService
  questions: Questions
  answering: Answering
}

/**
 * Answers messages whose ids their callers have chosen. A repeated call after an interruption continues: stored messages are
 * neither accepted nor answered twice. If others continued the conversation before there was an answer, the message moves
 * behind their messages. Throws as `accept` and `answer` do; TurnIsWaiting while a person has to decide.
 */
export function createAnswerOnce({
  waiting,
  agentDatabases,
  conversations,
  questions,
  answering,
}: Dependencies) {
  return async (
    agentId: string,
    message: QuestionInput & { id: string },
    asker: Asker,
    { signal, resume }: CallerJob,
  ): Promise<ChatMessage> => {
    const { isStored, next, row } = await agentDatabases.use(agentId, async handle => {
      const { db } = handle
      const stored = await findMessage(db, message.id)
      const next = stored && (await findNext(db, stored))
      const isOvertaken = next?.role === 'user'
      if (isOvertaken) await conversations.removeMessage(handle, message.id, true)
      const row = await findByClientId(db, asker.author, message.id)
      return { isStored: stored !== undefined && !isOvertaken, next, row }
    })
    if (next && isWholeAnswer(next)) return toPublic(next)
    if (row !== undefined) requireDecided(row)
    await using draft = await (isStored
      ? questions.draftAgain(agentId, message.id, row ? optionsOf(row) : {}, asker)
      : questions.draftNew(agentId, message, asker))
    let run = 0
    const also = async (transaction: AgentDatabase, { token }: Lock) => {
      const begun = row && (await beginRun(transaction, row.id, token, row.created_at))
      if (begun === undefined) throw conversationLocked()
      run = begun
    }
    const question = await draft.accept(row && { ...resumedTurn(row), also })
    const turn = row ?? {
      id: question.turnId,
      conversation_id: question.lock.conversationId,
      started_by: asker.author,
      client_message_id: message.id,
      question: JSON.stringify({ message: { id: message.id }, options: message }),
    }
    const lasting = {
      async park(transaction, outbox, { call, state }) {
        const parked = {
          row: { ...turn, run, lock_token: question.lock.token },
          call,
          state: { recorded: state, deltas: 0 },
        }
        const timeout = question.approvalTimeout
        await waiting.park({ transaction, outbox }, agentId, { ...parked, timeout, resume })
      },
      ...(row && { recording: waiting.recordingOf(question.agent, { ...row, run }) }),
    } satisfies Pick<Question, 'park' | 'recording'>
    const answered = await answering.answer({ ...question, ...lasting }, signal).catch(async error => {
      // The end of the process also aborts the job, which does not count as a failure of the job.
      if (error instanceof AppError && error.code === 'SHUTTING_DOWN' && !signal.aborted)
        await once(signal, 'abort')
      throw error
    })
    return answered.assistantMessage
  }
}

function optionsOf({ question }: TurnRow): QuestionInput {
  return (JSON.parse(question) as { options: QuestionInput }).options
}

/** Takes over the lock of the turn. */
function resumedTurn({ id: turnId, lock_token, conversation_id: conversationId }: TurnRow) {
  return { turnId, held: { conversationId, token: lock_token ?? 0 } }
}
