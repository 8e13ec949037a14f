import type { Kysely } from 'kysely'
import type { FoundPassage } from '#features/knowledge/knowledge.service.ts'
import type { CitedPassage } from '#models/language-model/passages.ts'
import type { AppError } from '#platform/errors.ts'
import type { Outbox } from '#platform/jobs/jobs.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { ChatEvents } from '../chat.events.ts'
import type { ChatMessage, ReadPage } from '../chat.schema.ts'
import type { TurnStep } from '../turn/prompt.ts'
import type { TurnState } from '../turn/turn-state.ts'

/** A turn that can continue after its process has ended. */
export interface Recording<State> {
  /** The state to continue from; without one, the turn begins. */
  from?: State | undefined
  /** See `TurnInput.record`. */
  record?: ((state: State) => Promise<void>) | undefined
  /** True if the turn waits for decisions on calls. */
  parks?: boolean
}

/** The state of a plan, in a form for JSON. */
export interface PlannedState {
  pages: ReadPage[]
  turn: TurnState
  /** The passages of automatic retrieval, which is not repeated. */
  found: FoundPassage[]
  cited: CitedPassage[]
  /** The cost so far; see `Meter`. */
  spent?: number | undefined
}

export interface RecordedEnd extends Recording<RecordedTurn> {
  /** Flushes the log before the turn's end is stored. */
  settle(): Promise<void>
  /** Runs in the transaction that stores the end. */
  end(
    transaction: Kysely<AgentTables>,
    outbox: Outbox<ChatEvents>,
    answered: { assistantMessage: ChatMessage | undefined; error: AppError | undefined },
  ): Promise<void>
}

/** A turn between two runs, in a form for JSON. */
export interface RecordedTurn extends PlannedState {
  /** The steps of the answer. */
  steps: readonly TurnStep[]
}
