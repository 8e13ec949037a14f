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
import type { PlannedOutcome } from './planning/turn-plan.ts'

/** A stored question whose conversation is locked for it. */
export interface Question {
  /** The agent's handle, released when the question is answered. */
  agent: AgentHandle
  lock: Lock
  userMessage: StoredMessage
  asker: Asker
  /** True for a new message, which is the last one of its conversation. */
  isNew?: boolean
  /** The conversation that was evicted for the new one of the question. */
  evictedConversationId?: string | undefined
  /** The first title of the question's new conversation, and the model that can improve it. */
  title?: { former: string; model: string | undefined } | undefined
  /** Id of the model that answers. */
  model: string
  /** Id of the turn, and of the answer. */
  turnId: string
  /** The reason why the question is not answered. */
  refusal?: AppError | undefined
  /** Max wait of its calls for a decision, in seconds. */
  approvalTimeout: number
  /** Runs the turn; see `runTurn`. */
  turn(
    emit: (event: TurnEvent) => void,
    signal: AbortSignal,
    recording?: Recording<PlannedState>,
  ): Promise<PlannedOutcome>
  /** The record of a turn that can continue after its process has ended. */
  recording?: RecordedEnd
  /** Stores everything that the turn needs to continue, in the transaction that parks it. Without this, the turn never waits. */
  park?(transaction: Kysely<AgentTables>, outbox: Outbox<ChatEvents>, parked: ParkedTurn): Promise<void>
}

interface ParkedTurn {
  call: WaitingCall
  state: RecordedTurn
}
