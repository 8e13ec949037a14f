import type { Page } from 'playwright-core'
import { read } from '../in-page/read.ts'

/** What a tab is shown by, as its page gave it when it was last loaded. */
export interface Facts {
  title: string
  favicon: string
}

/** Characters. */
const longest = { title: 500, favicon: 4000 }

/** @throws TimeoutError of Playwright where the page does not answer in so many milliseconds */
export function readFacts(page: Page, timeout: number): Promise<Facts> {
  return read(page, 'facts', longest, timeout)
}
