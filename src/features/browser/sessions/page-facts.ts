import type { Page } from 'playwright-core'
import { read } from '../in-page/read.ts'

/** The title and icon of a tab from the last load of its page. */
export interface Facts {
  title: string
  favicon: string
}

/** Max characters. */
const longest = { title: 500, favicon: 4000 }

/** @throws TimeoutError of Playwright if the page does not answer in this time (ms) */
export function readFacts(page: Page, timeout: number): Promise<Facts> {
  return read(page, 'facts', longest, timeout)
}
