import type { Dialog } from 'playwright-core'

/*
 * (none) --requested--> pending --a person drives--> active
 * pending, active --handed back | time is over | request withdrawn | session has ended--> (none)
 */
export type TakeoverStatus = 'pending' | 'active'
export type TakeoverOutcome = 'handed_back' | 'expired' | 'aborted' | 'session_ended'

export interface Ending {
  outcome: TakeoverOutcome
  /** The note of the person who handed back. */
  note: string | null
}

/** A person who may drive, over any number of connections. */
export interface Person {
  /** Identical for all connections of the person. */
  key: string
  /** The driver's name for others. */
  name: string
  /** The link that permits driving; undefined if a role does. */
  link?: string
}

interface Options {
  id: string
  reason: string
  requestedBy: string
  /** Milliseconds since the epoch. */
  requestedAt: number
  expiresAt: number
  notify(event: 'takeover.changed'): void
}

/** Time for which a driver without connection keeps the wheel (ms). */
const keptMs = 30_000

export interface PendingDialog {
  pageId: string
  kind: string
  message: string
  defaultValue: string
}

/** Choices in a field that no picture of the page shows. */
export interface Picker {
  /** The message for the driver, without its type. */
  shown: { picker: string; pageId: string } & Record<string, unknown>
  /** Returns the list's row at a point, with its option if enabled; undefined beside the list. */
  rowAt(point: { x: number; y: number }): { option: number | undefined } | undefined
  /** Takes a part of a file; returns false if it can't. */
  take(part: { name: string; mediaType: string; data: string; isNew: boolean }): boolean
  /** Applies the choice: nothing, or the received files. */
  choose(choice: { option?: number | undefined; value?: string | undefined }): Promise<void>
}

/** The time in which a person drives a session instead of its agent: one person at a time. */
export class Takeover {
  readonly id: string
  readonly reason: string
  readonly requestedBy: string
  readonly requestedAt: number
  expiresAt: number
  /** True if only the driver sees the picture. */
  isHidden = false
  /** The field in which the driver can choose now. */
  picker: Picker | undefined
  #pickers = 0
  /** Resolves with the ending; never rejects. */
  readonly ended: Promise<Ending>
  readonly #end: (ending: Ending) => void
  readonly #notify: Options['notify']
  readonly #dialogs = new Map<string, { dialog: Dialog; answered: () => void }>()
  #driver: Person | undefined
  #connections = 0
  #leaving: NodeJS.Timeout | undefined
  #wasDriven = false
  /** Number of calls of `hide`. */
  #hidings = 0

  constructor({ id, reason, requestedBy, requestedAt, expiresAt, notify }: Options) {
    this.id = id
    this.reason = reason
    this.requestedBy = requestedBy
    this.requestedAt = requestedAt
    this.expiresAt = expiresAt
    this.#notify = notify
    const { promise, resolve } = Promise.withResolvers<Ending>()
    this.ended = promise
    this.#end = resolve
  }

  get status(): TakeoverStatus {
    return this.#wasDriven ? 'active' : 'pending'
  }

  get driver(): Person | undefined {
    return this.#driver
  }

  isDrivenBy({ key }: Person): boolean {
    return this.#driver?.key === key
  }

  /** Returns true if the person sees the picture. */
  isVisibleTo(person: Person): boolean {
    return !this.isHidden || this.isDrivenBy(person)
  }

  /** The last call counts. @param beforeShown awaited before others see the picture again */
  async hide(isHidden: boolean, beforeShown: () => Promise<void>): Promise<void> {
    this.#hidings += 1
    const hiding = this.#hidings
    if (this.isHidden && !isHidden) await beforeShown()
    if (hiding !== this.#hidings) return
    this.isHidden = isHidden
    this.#notify('takeover.changed')
  }

  nextPicker(): string {
    this.#pickers += 1
    return String(this.#pickers)
  }

  /** Sets the current picker; undefined removes it. */
  offer(picker: Picker | undefined): void {
    if (picker === this.picker) return
    this.picker = picker
    this.#notify('takeover.changed')
  }

  /**
   * Takes the wheel if it is free; returns true if the person has it now.
   * @param isOpening true if the person opens the link now, which can be the driver's closed one
   */
  claim(person: Person, isOpening = false): boolean {
    const isReopened = isOpening && this.#connections === 0 && person.link !== undefined
    const isSameLink = isReopened && person.link === this.#driver?.link && !this.isDrivenBy(person)
    if (this.#driver === undefined || isSameLink) {
      this.#driver = person
      this.#wasDriven = true
      this.#notify('takeover.changed')
    }
    return this.isDrivenBy(person)
  }

  /** Must be called for each connection of the driver, and the returned function at its end. */
  connect(person: Person): () => void {
    clearTimeout(this.#leaving)
    this.#connections += 1
    return () => {
      this.#connections -= 1
      if (this.#connections > 0) return
      this.#leaving = setTimeout(() => this.#leave(person), keptMs).unref()
    }
  }

  /** Dialogs that wait for an answer; a closed tab removes its own. */
  get dialogs(): PendingDialog[] {
    const waiting = [...this.#dialogs].filter(([, { dialog }]) => dialog.page()?.isClosed() !== true)
    return waiting.map(([pageId, { dialog }]) => ({
      pageId,
      kind: dialog.type(),
      message: dialog.message(),
      defaultValue: dialog.defaultValue(),
    }))
  }

  /** Leaves a dialog to the person; resolves after the answer. */
  async answerDialog(pageId: string, dialog: Dialog): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#dialogs.set(pageId, { dialog, answered: resolve })
    this.#notify('takeover.changed')
    await promise
  }

  /** Does nothing if no dialog of the tab waits. */
  async answer(pageId: string, accept: boolean, text?: string): Promise<void> {
    const waiting = this.#dialogs.get(pageId)
    if (waiting === undefined) return
    this.#dialogs.delete(pageId)
    this.#notify('takeover.changed')
    await (accept ? waiting.dialog.accept(text) : waiting.dialog.dismiss()).finally(waiting.answered)
  }

  /** Ends the takeover; dialogs of pages are then answered without a person. */
  finish(ending: Ending, answerDialog: (dialog: Dialog) => Promise<void>): void {
    clearTimeout(this.#leaving)
    for (const { dialog, answered } of this.#dialogs.values()) answerDialog(dialog).then(answered, answered)
    this.#dialogs.clear()
    this.#end(ending)
  }

  #leave(person: Person): void {
    if (!this.isDrivenBy(person) || this.#connections > 0) return
    this.#driver = undefined
    this.#notify('takeover.changed')
  }
}
