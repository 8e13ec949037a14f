import type { Page } from 'playwright-core'
import { fieldValues } from '../actions/in-page.ts'
import { createMask } from '../outline/mask.ts'
import { secretFields } from '../outline/secret-fields.ts'

const maxValues = 200

/** What stands, or stood, in the fields of a session for passwords, codes and cards: nothing that is told of it holds these. */
export class Secrets {
  readonly #values = new Set<string>()

  /** The newest are kept. */
  keep(values: readonly string[]): void {
    for (const value of values) {
      this.#values.delete(value)
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
    this.keep((await Promise.all(read)).flat())
  }

  /** Replaces them in texts. */
  mask(): (text: string) => string {
    return createMask(this.#values)
  }
}
