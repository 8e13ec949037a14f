import type { Kysely } from 'kysely'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentTables } from '#storage/tables.ts'
import { appendEvents, appendInRun, changeInRun, insertEvents } from '../rows/turns.repository.ts'
import type { StreamEvent } from '../stream-events.schema.ts'

type Database = Kysely<AgentTables>

/** A batch is written once it has this many events, or after this time, in milliseconds. */
const batch = { events: 64, ms: 200 }
/**
 * Bytes of a log; beyond them, it takes only what its readers need to end with the right text. With the longest text, whose
 * characters take up to six bytes each, that is 8 MB.
 */
const maxBytes = 2_000_000

interface Dependencies {
  db: Database
  /** Whether no other process has the database. */
  isExclusive: boolean
  turn: { id: string; run: number }
  /** Number of the last event, bytes so far, and the index of the next delta. */
  start: { last: number; bytes: number; deltas: number }
  /** A batch was written. */
  onWritten(): void
  /** What can't be written, or no longer counts: another process runs the turn. */
  onLost(error: unknown): void
}

/** The events of one run of a turn, as its readers get them. Adjacent deltas become one. */
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

  /** Stores where the turn may go on, with all events so far. @param stateOf gets the index of the next delta. */
  record(stateOf: (deltas: number) => string): Promise<void> {
    return this.#write({ state: stateOf(this.#deltas) })
  }

  /** Writes all that was added; then nothing more is written. */
  async settle(): Promise<void> {
    await this.#write().catch(() => {})
    this.#unschedule()
  }

  /** The last event, and the content that the readers should have by then; behind all that was written. */
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

  /** Within a transaction, once all else is written. */
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

  /** The events since the last call, numbered. */
  #take() {
    this.#unschedule()
    let taken = this.#pending
    let events = linesOf(taken)
    // Counted here: however much has come since the last batch, it is one now.
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

  /** Writes what was added and changes the row of the turn, after all that was written before. */
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
      // Its readers lack something.
      this.#isFull = true
      onLost(error)
    }
    this.#writing = written.catch(onFailed).finally(() => {
      this.#isWriting = false
      this.#schedule()
    })
    return written
  }

  /** False, and nothing is stored, once another run has begun. */
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

/** Without the results of tools, which the stored answer has. */
function shortened(event: StreamEvent): StreamEvent {
  if (event.type === 'message_complete') return { ...event, toolCalls: null, toolResults: null }
  if (event.type === 'tool_result' && event.success) return { ...event, result: event.resultPreview }
  return event
}
