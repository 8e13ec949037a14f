/** Runs in an isolated world within pages, so it must use nothing from this module but its arguments. */
import type { Mirror, PageEvent, PageField, SilentChanges } from './in-page-silent.ts'

interface Record {
  (options: object): (() => void) | undefined
  takeFullSnapshot(isCheckout: boolean): void
  mirror: Mirror
}

interface Options {
  /** The options of the library itself. */
  library: object
  secretFields: string
  hiddenValue: string
  batchMs: number
  /** Max characters of a snapshot; a larger page is not recorded. */
  maxSnapshot: number
  /** Max characters of events in `burstMs`; above it, a snapshot follows when the page is quiet. */
  maxBurst: number
  /** Time in which the allowance of `maxBurst` is renewed (ms). */
  burstMs: number
  /** Max time per batch to search for silent changes, and at the end (ms). */
  lookMs: { usual: number; last: number }
}

declare function addEventListener(name: string, listener: () => void): void
declare function removeEventListener(name: string, listener: () => void): void

/** Sends arrays of events as JSON; a snapshot begins its own array. */
export class PageRecorder {
  readonly #record: Record
  readonly #send: (events: string) => void
  readonly #options: Options
  readonly #silent: SilentChanges
  readonly #end: (() => void) | undefined
  readonly #timer: NodeJS.Timeout
  #batch: string[] = []
  /** Characters left until a snapshot is needed. */
  #left: number
  #isBehind = false
  /** True if the page's own changes need a snapshot, whose size then counts as theirs. */
  #isRequested = false
  /** True while the next page loads: events are sent at once, because this page ends without a warning. */
  #isLeaving = false
  /** Fields that once held secrets; pages reveal the content by changing the type. */
  readonly #secrets = new WeakSet<PageField>()

  constructor(
    record: Record,
    send: (events: string) => void,
    options: Options,
    Silent: typeof SilentChanges,
  ) {
    this.#record = record
    this.#send = send
    this.#options = options
    this.#left = options.maxBurst
    const maskInputFn = (text: string, field?: PageField) => this.#mask(text, field)
    this.#silent = new Silent({
      mirror: record.mirror,
      report: data => this.#keep({ type: 3, data, timestamp: Date.now() }),
      needSnapshot: () => {
        this.#isRequested = true
        this.#isBehind = true
      },
      mask: maskInputFn,
    })
    this.#end = record({ ...options.library, emit: (event: PageEvent) => this.#take(event), maskInputFn })
    this.#timer = setInterval(() => this.#look(), options.batchMs)
    addEventListener('beforeunload', this.#leave)
  }

  snapshot(): void {
    if (!this.#isBehind) this.#record.takeFullSnapshot(true)
  }

  /** Sends pending events, and stops. */
  finish(): void {
    this.#watch(() => this.#silent.look(this.#options.lookMs.last, true))
    if (this.#isBehind) this.#catchUp()
    this.#flush()
    this.stop()
  }

  /** Stops at once. */
  stop(): void {
    clearInterval(this.#timer)
    removeEventListener('beforeunload', this.#leave)
    this.#batch = []
    this.#left = 0
    this.#isBehind = true
    this.#end?.()
  }

  #mask(text: string, field?: PageField): string {
    const isSecret = !field || this.#secrets.has(field) || field.matches(this.#options.secretFields)
    if (isSecret && field) this.#secrets.add(field)
    return isSecret && text !== '' ? this.#options.hiddenValue : text
  }

  #flush(): void {
    if (this.#batch.length > 0) this.#send(`[${this.#batch.join()}]`)
    this.#batch = []
  }

  #take(event: PageEvent): void {
    if (event.type === 3 && this.#silent.covers(event)) return
    this.#keep(event)
    this.#watch(() => this.#silent.recorded(event))
    if (this.#isLeaving) this.#flush()
  }

  #keep(event: PageEvent): void {
    // Events of the types 4 and 2 are a snapshot.
    if (event.type === 4) this.#flush()
    const isSnapshot = event.type === 4 || event.type === 2
    if (this.#isBehind && !isSnapshot) return
    const text = JSON.stringify(event)
    if (isSnapshot) this.#keepSnapshot(text)
    else this.#keepChange(text)
  }

  #keepSnapshot(text: string): void {
    this.#batch.push(text)
    if (this.#isRequested) this.#left -= text.length
    if (text.length <= this.#options.maxSnapshot) return
    const data = { tag: 'too_large', payload: { characters: text.length } }
    this.#batch = [JSON.stringify({ type: 5, data, timestamp: Date.now() })]
    this.#flush()
    this.stop()
  }

  #keepChange(text: string): void {
    this.#isBehind = text.length > this.#left
    if (this.#isBehind) return
    this.#left -= text.length
    this.#batch.push(text)
  }

  readonly #leave = (): void => {
    this.#isLeaving = true
    this.#watch(() => this.#silent.look(this.#options.lookMs.last, true))
    this.#flush()
  }

  #look(): void {
    const { maxBurst, batchMs, burstMs, lookMs } = this.#options
    this.#left = Math.min(maxBurst, this.#left + (maxBurst * batchMs) / burstMs)
    this.#watch(() => this.#silent.look(lookMs.usual))
    this.#flush()
    if (this.#isBehind && this.#left === maxBurst) this.#catchUp()
  }

  /** Pages can hide document functions behind element names; then silent changes are not recorded. */
  #watch(look: () => void): void {
    if (this.#isBehind) return
    try {
      look()
    } catch {
      // The recording itself continues.
    }
  }

  #catchUp(): void {
    this.#isBehind = false
    this.#record.takeFullSnapshot(true)
    this.#isRequested = false
  }
}
