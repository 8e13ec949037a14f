import type { Page } from 'playwright-core'
import { read } from '../in-page/read.ts'
import type { Mask } from './mask.ts'
import { createMask } from './mask.ts'
import { secretFields } from './secret-fields.ts'

/** `together` are characters of all values. */
const most = { values: 200, characters: 1000, together: 20_000, frames: 200 }
/** Characters that are too few to be taken for what was typed. */
const tooFew = 3
/** Milliseconds in which a page that does not hang answers. */
const answersWithinMs = 600

/** What stands, or stood, in the fields of a session for passwords, codes and cards: nothing that is told of it holds these. */
export class Secrets {
  readonly #values = new Set<string>()
  #mask: Mask | undefined
  /** What is being typed while nobody else may see it, until something else is done. */
  #typing = ''

  /** The newest are kept. */
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

  /** Text that a person types while nobody else may see it, wherever it goes; a step back where it is undefined. */
  type(text: string | undefined): void {
    this.#typing = text === undefined ? this.#typing.slice(0, -1) : this.#typing + text
    this.#mask = undefined
  }

  /** What is typed next is something else. */
  endTyping(): void {
    if (this.#typing.length >= tooFew) this.keep([this.#typing])
    this.#typing = ''
  }

  /**
   * Keeps what stands in the page now, its frames included. Never rejects; a page that hangs does not answer.
   * @param changed whether what was written into any other field is kept, too
   */
  async read(page: Page, changed = false): Promise<void> {
    const limits = { selector: secretFields, changed, ...most }
    const frames = page.frames().slice(0, most.frames)
    const reading = frames.map(frame => read(frame, 'fieldValues', limits, answersWithinMs).catch(() => []))
    this.keep((await Promise.all(reading)).flat())
  }

  /** Replaces them in texts. */
  mask(): Mask {
    const typing = this.#typing.length < tooFew ? [] : [this.#typing]
    this.#mask ??= createMask([...this.#values, ...typing])
    return this.#mask
  }
}
