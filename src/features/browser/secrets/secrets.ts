import type { Page } from 'playwright-core'
import { read } from '../in-page/read.ts'
import { createMask, type Mask } from './mask.ts'
import { secretFields } from './secret-fields.ts'

/** `together` limits the characters of all values. */
const most = { values: 200, characters: 1000, together: 20_000, frames: 200 }
/** Fewer characters than this are not treated as typed text. */
const tooFew = 3
/** Max time in which a responsive page answers (ms). */
const answersWithinMs = 600

/** The contents of a session's secret fields: no report of the session contains them. */
export class Secrets {
  readonly #values = new Set<string>()
  #mask: Mask | undefined
  /** The text being typed while only the person can see it, until another action. */
  #typing = ''

  /** Keeps values; above the limits, the oldest are dropped. */
  keep(values: readonly string[]): void {
    for (const value of values) {
      if (!this.#values.delete(value)) this.#mask = undefined
      this.#values.add(value)
    }
    let characters = this.#values.values().reduce((sum, { length }) => sum + length, 0)
    for (const oldest of this.#values) {
      if (this.#values.size <= most.values && characters <= most.together) break
      this.#values.delete(oldest)
      characters -= oldest.length
    }
  }

  /** Notes text that a person types while only they can see it; undefined deletes one character. */
  type(text: string | undefined): void {
    this.#typing = text === undefined ? this.#typing.slice(0, -1) : this.#typing + text
    this.#mask = undefined
  }

  /** Ends the current text; the next typed text is another value. */
  endTyping(): void {
    if (this.#typing.length >= tooFew) this.keep([this.#typing])
    this.#typing = ''
  }

  /**
   * Keeps the field contents of the page and its frames. Never rejects; a page that hangs does not answer.
   * @param changed true if text written into any other field is kept, too
   */
  async read(page: Page, changed = false): Promise<void> {
    const limits = { selector: secretFields, changed, ...most }
    const frames = page.frames().slice(0, most.frames)
    const reading = frames.map(frame => read(frame, 'fieldValues', limits, answersWithinMs).catch(() => []))
    this.keep((await Promise.all(reading)).flat())
  }

  /** Returns a mask that replaces the values in texts. */
  mask(): Mask {
    const typing = this.#typing.length < tooFew ? [] : [this.#typing]
    this.#mask ??= createMask([...this.#values, ...typing])
    return this.#mask
  }
}
