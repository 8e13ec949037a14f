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

/** A turn that can go on after its process has ended. */
export interface Recording<State> {
  /** Where it goes on; it begins without. */
  from?: State | undefined
  /** See `TurnInput.record`. */
  record?: ((state: State) => Promise<void>) | undefined
  /** Whether it waits for decisions on calls. */
  parks?: boolean
}

/** As JSON can hold it. */
export interface PlannedState {
  pages: ReadPage[]
  turn: TurnState
  /** Those that automatic retrieval has found, which are not searched for again. */
  found: FoundPassage[]
  cited: CitedPassage[]
  /** What it has cost; see `Meter`. */
  spent?: number | undefined
}

export interface RecordedEnd extends Recording<RecordedTurn> {
  /** Called when nothing more will be emitted, before the end is stored. */
  settle(): Promise<void>
  /** Within the transaction that stores the end. */
  end(
    transaction: Kysely<AgentTables>,
    outbox: Outbox<ChatEvents>,
    answered: { assistantMessage: ChatMessage | undefined; error: AppError | undefined },
  ): Promise<void>
}

/** A turn at rest, as JSON can hold it. */
export interface RecordedTurn extends PlannedState {
  /** Of the answer. */
  steps: readonly TurnStep[]
}
