import type { Page } from 'playwright-core'
import { fieldValues } from '../actions/in-page.ts'
import { createMask } from '../outline/mask.ts'
import { secretFields } from '../outline/secret-fields.ts'

const maxValues = 200
/** Characters; what `fieldValues` gives is not longer, unless a page has put functions of its own in the place of those that it calls. */
const maxCharacters = 1000

/** What stands, or stood, in the fields of a session for passwords, codes and cards: nothing that is told of it holds these. */
export class Secrets {
  readonly #values = new Set<string>()
  #mask: ((text: string) => string) | undefined

  /** The newest are kept. */
  keep(values: readonly string[]): void {
    for (const value of values) {
      if (!this.#values.delete(value)) this.#mask = undefined
      this.#values.add(value)
    }
    for (const oldest of this.#values) {
      if (this.#values.size <= maxValues) break
      this.#values.delete(oldest)
    }
  }

  /** Keeps what stands in the page now, its frames included. Never rejects; a page that hangs does not answer. */
  async read(page: Page): Promise<void> {
    const read = page.frames().map(frame => frame.evaluate(fieldValues, secretFields).catch(() => []))
    const found: unknown[] = (await Promise.all(read)).flat()
    this.keep(found.filter(value => typeof value === 'string' && value.length <= maxCharacters) as string[])
  }

  /** Replaces them in texts. */
  mask(): (text: string) => string {
    this.#mask ??= createMask(this.#values)
    return this.#mask
  }
}
