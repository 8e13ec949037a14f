import type { Kysely } from 'kysely'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentTables } from '#storage/tables.ts'
import { appendEvents, appendInRun, changeInRun, insertEvents } from '../rows/turns.repository.ts'
import type { StreamEvent } from '../stream-events.schema.ts'

type Database = Kysely<AgentTables>

/** Max size of a batch before it is written, in events and in milliseconds. */
const batch = { events: 64, ms: 200 }
/**
 * Max bytes of a log; after that, it only takes events that readers need to end with the right text. With the longest text,
 * whose characters take up to six bytes each, that is 8 MB.
 */
const maxBytes = 2_000_000

interface Dependencies {
  db: Database
  /** True if no other process uses the database. */
  isExclusive: boolean
  turn: { id: string; run: number }
  /** The number of the last event, the bytes so far, and the index of the next delta. */
  start: { last: number; bytes: number; deltas: number }
  /** Called when a batch was written. */
  onWritten(): void
  /** Called when a write failed, or is obsolete because another process runs the turn. */
  onLost(error: unknown): void
}

/** The events of one run of a turn, in their form for readers. Adjacent deltas become one. */
export class TurnLog {
  readonly #needs: Dependencies
  #last: number
  #bytes: number
  #isFull: boolean
  #deltas: number
  #pending: StreamEvent[] = []
  #given = 0
  #writing: Promise<void> = Promise.resolve()
  #isWriting = false
  #timer: NodeJS.Timeout | undefined
  #writtenAt = 0

  constructor(needs: Dependencies) {
    this.#needs = needs
    this.#last = needs.start.last
    this.#bytes = needs.start.bytes
    this.#isFull = this.#bytes > maxBytes
    this.#deltas = needs.start.deltas
  }

  add(event: StreamEvent): void {
    const before = this.#pending.at(-1)
    this.#given += 1
    if (event.type !== 'content_delta') this.#pending.push(event)
    else if (before?.type === 'content_delta') before.delta += event.delta
    else if (!this.#isFull) {
      this.#pending.push({ ...event, index: this.#deltas })
      this.#deltas += 1
    }
    if (this.#given === batch.events) this.#unschedule()
    this.#schedule()
  }

  /** Stores the state to continue from, with all events so far. @param stateOf gets the index of the next delta. */
  record(stateOf: (deltas: number) => string): Promise<void> {
    return this.#write({ state: stateOf(this.#deltas) })
  }

  /** Writes all added events; after that, no more are written. */
  async settle(): Promise<void> {
    await this.#write().catch(() => {})
    this.#unschedule()
  }

  /** Returns the last event and, if readers lack text, the full content before it, numbered after all written events. */
  lastEvents(event: StreamEvent, content: string | undefined) {
    const isComplete = content === undefined || !this.#isFull
    const events: StreamEvent[] = isComplete
      ? [event]
      : [{ type: 'content_replaced', content }, shortened(event)]
    return { events, after: this.#last }
  }

  /** The index of the next delta. */
  deltas(): number {
    return this.#deltas
  }

  /** Stores the last event in a transaction, after all other writes. */
  append(transaction: Database, event: StreamEvent): Promise<void> {
    return appendEvents(transaction, this.#needs.turn.id, [event], this.#last)
  }

  #schedule(): void {
    if (this.#pending.length === 0 || this.#timer !== undefined || this.#isWriting) return
    const isFull = this.#given >= batch.events
    const pause = isFull ? 0 : Math.max(0, batch.ms - (performance.now() - this.#writtenAt))
    this.#timer = setTimeout(() => void this.#write().catch(() => {}), pause)
  }

  #unschedule(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Returns the events since the last call, numbered. */
  #take() {
    this.#unschedule()
    let taken = this.#pending
    let events = linesOf(taken)
    // Counted here, because all events since the last batch are one batch now.
    this.#isFull ||= this.#bytes + Buffer.byteLength(events) > maxBytes
    if (this.#isFull) {
      taken = taken.filter(({ type }) => type !== 'content_delta').map(shortened)
      events = linesOf(taken)
    }
    this.#last += taken.length
    this.#bytes += Buffer.byteLength(events)
    this.#pending = []
    this.#given = 0
    return events === '' ? undefined : { last: this.#last, events }
  }

  /** Writes added events and changes the row of the turn, after all earlier writes. */
  #write(changes: { state?: string } = {}): Promise<void> {
    const { onWritten, onLost } = this.#needs
    const taken = this.#take()
    this.#isWriting = true
    const written = this.#writing.then(async () => {
      if (!(await this.#store(taken, changes))) throw new Error('another run has begun')
      this.#writtenAt = performance.now()
      onWritten()
    })
    const onFailed = (error: unknown) => {
      // The log's readers lack events.
      this.#isFull = true
      onLost(error)
    }
    this.#writing = written.catch(onFailed).finally(() => {
      this.#isWriting = false
      this.#schedule()
    })
    return written
  }

  /** Returns false, and stores nothing, once another run has begun. */
  async #store(taken: { last: number; events: string } | undefined, changes: { state?: string }) {
    const { db, isExclusive, turn } = this.#needs
    if (changes.state === undefined) return !taken || appendInRun(db, turn, taken, isExclusive)
    return inTransaction(db, async transaction => {
      const isCurrent = await changeInRun(transaction, turn, changes)
      if (isCurrent && taken) await insertEvents(transaction, { turn_id: turn.id, ...taken })
      return isCurrent
    })
  }
}

function linesOf(events: readonly StreamEvent[]): string {
  return events.map(event => JSON.stringify(event)).join('\n')
}

/** Removes the results of tools, which are in the stored answer. */
function shortened(event: StreamEvent): StreamEvent {
  if (event.type === 'message_complete') return { ...event, toolCalls: null, toolResults: null }
  if (event.type === 'tool_result' && event.success) return { ...event, result: event.resultPreview }
  return event
}
