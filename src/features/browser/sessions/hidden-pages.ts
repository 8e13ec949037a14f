import type { BrowserContext, Page } from 'playwright-core'

/** Pages of a session that are no tabs and not visible to anyone. */
export class HiddenPages {
  readonly #context: BrowserContext
  #opening: Promise<Page | undefined> | undefined

  constructor(context: BrowserContext) {
    this.#context = context
  }

  /** Opens a hidden page; must not be called again before it resolves. */
  async open(): Promise<Page> {
    const opening = this.#context.newPage()
    this.#opening = opening.catch(() => undefined)
    return await opening.finally(() => {
      this.#opening = undefined
    })
  }

  /** Must be called when the context reports the page. */
  async has(page: Page): Promise<boolean> {
    return this.#opening !== undefined && (await this.#opening) === page
  }
}
