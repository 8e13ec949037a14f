import type { Kysely } from 'kysely'
import type { AppError } from '#platform/errors.ts'
import type { Outbox } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { ChatEvents } from '../chat.events.ts'
import type { Asker } from '../reach.ts'
import type { Lock } from '../rows/conversation-lock.repository.ts'
import type { StoredMessage } from '../rows/messages.repository.ts'
import type { TurnEvent, WaitingCall } from '../turn/turn.ts'
import type { PlannedState, RecordedEnd, RecordedTurn, Recording } from '../waiting/recorded-turn.ts'
import type { PlannedOutcome } from './turn-planner.ts'

/** A question that was accepted and stored, and whose conversation is locked for it. */
export interface Question {
  /** Held until the question is answered. */
  agent: AgentHandle
  lock: Lock
  userMessage: StoredMessage
  asker: Asker
  /** It is a new message, so that nothing follows it in its conversation. */
  isNew?: boolean
  /** The conversation that made room for the new one that the question began. */
  evictedConversationId?: string | undefined
  /** Of a conversation that it began: the title that it gave, and the model that may give a better one. */
  title?: { former: string; model: string | undefined } | undefined
  /** Id of the model that answers. */
  model: string
  /** Id of its turn, and of the answer. */
  turnId: string
  /** Why it is not answered. */
  refusal?: AppError | undefined
  /** How long its calls may wait for a decision, in seconds. */
  approvalTimeout: number
  /** Runs the turn; see `runTurn`. */
  turn(
    emit: (event: TurnEvent) => void,
    signal: AbortSignal,
    recording?: Recording<PlannedState>,
  ): Promise<PlannedOutcome>
  /** Of a turn that goes on after its process has ended. */
  recording?: RecordedEnd
  /** Within the transaction that parks the turn: stores all that it needs to go on. It does not wait without. */
  park?(transaction: Kysely<AgentTables>, outbox: Outbox<ChatEvents>, parked: ParkedTurn): Promise<void>
}

interface ParkedTurn {
  call: WaitingCall
  state: RecordedTurn
}
