import type { Dialog } from 'playwright-core'

/*
 * (none) --requested--> pending --somebody drives--> active
 * pending, active --handed back | its time is over | the request was withdrawn | the session has ended--> (none)
 */
export type TakeoverStatus = 'pending' | 'active'
export type TakeoverOutcome = 'handed_back' | 'expired' | 'aborted' | 'session_ended'

export interface Ending {
  outcome: TakeoverOutcome
  /** Of the person who handed back. */
  note: string | null
}

/** Somebody who may drive, over however many connections. */
export interface Person {
  /** The same for all connections of theirs. */
  key: string
  /** The driver, as others see it. */
  name: string
  /** The link that permits it; undefined where a role does. */
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

/** Milliseconds that who has lost the connection keeps the wheel. */
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
  /** The row of a list at a place in the picture, with its option if that can be chosen; undefined beside the list. */
  rowAt(point: { x: number; y: number }): { option: number | undefined } | undefined
  /** Takes a part of a file; returns whether it can. */
  take(part: { name: string; mediaType: string; data: string; isNew: boolean }): boolean
  /** Nothing, or the files that came. */
  choose(choice: { option?: number | undefined; value?: string | undefined }): Promise<void>
}

/** The time in which a person drives a session instead of its agent: one at a time. */
export class Takeover {
  readonly id: string
  readonly reason: string
  readonly requestedBy: string
  readonly requestedAt: number
  expiresAt: number
  /** Whether only who drives sees the picture. */
  isHidden = false
  /** The field in which the driver may choose now. */
  picker: Picker | undefined
  #pickers = 0
  /** How it ended; never rejects. */
  readonly ended: Promise<Ending>
  readonly #end: (ending: Ending) => void
  readonly #notify: Options['notify']
  readonly #dialogs = new Map<string, { dialog: Dialog; answered: () => void }>()
  #driver: Person | undefined
  #connections = 0
  #leaving: NodeJS.Timeout | undefined
  #wasDriven = false
  /** How often it was hidden, or shown again. */
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

  /** Whether the person sees the picture. */
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

  /** Undefined where there is nothing to choose any more. */
  offer(picker: Picker | undefined): void {
    if (picker === this.picker) return
    this.picker = picker
    this.#notify('takeover.changed')
  }

  /**
   * Takes the wheel if nobody has it; returns whether the person has it now.
   * @param isOpening whether the person opens the link just now, which may be the one that the driver had and has closed
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

  /** To be called for each connection of the one who drives, with the function that is returned at its end. */
  connect(person: Person): () => void {
    clearTimeout(this.#leaving)
    this.#connections += 1
    return () => {
      this.#connections -= 1
      if (this.#connections > 0) return
      this.#leaving = setTimeout(() => this.#leave(person), keptMs).unref()
    }
  }

  /** Dialogs that wait for an answer; those of a tab go with it. */
  get dialogs(): PendingDialog[] {
    const waiting = [...this.#dialogs].filter(([, { dialog }]) => dialog.page()?.isClosed() !== true)
    return waiting.map(([pageId, { dialog }]) => ({
      pageId,
      kind: dialog.type(),
      message: dialog.message(),
      defaultValue: dialog.defaultValue(),
    }))
  }

  /** Has the person answer; resolves once that is done. */
  async answerDialog(pageId: string, dialog: Dialog): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#dialogs.set(pageId, { dialog, answered: resolve })
    this.#notify('takeover.changed')
    await promise
  }

  /** Does nothing where no dialog of the tab waits for an answer. */
  async answer(pageId: string, accept: boolean, text?: string): Promise<void> {
    const waiting = this.#dialogs.get(pageId)
    if (waiting === undefined) return
    this.#dialogs.delete(pageId)
    this.#notify('takeover.changed')
    await (accept ? waiting.dialog.accept(text) : waiting.dialog.dismiss()).finally(waiting.answered)
  }

  /** Says how it ended; dialogs of a page are answered as without a person. */
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
