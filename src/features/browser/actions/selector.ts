import type { Locator, Page } from 'playwright-core'
import { invalid } from '#platform/errors.ts'
import type { SchemaProblem } from '#platform/schema-problem.ts'
import { numberedSelector } from '../in-page/read.ts'
import { firstLine } from './action-error.ts'

const engines = ['css', 'text', 'role', 'xpath', 'ref']

/** Returns a problem that is visible without a page. */
export function selectorProblem(selector: string): SchemaProblem | undefined {
  const [, engine, rest = selector] = /^\s*(?:([\w:-]+)=)?(.*)$/s.exec(selector) ?? []
  if (engine !== undefined && !engines.includes(engine))
    return { field: 'selector', issue: `${engine}= is not known: use CSS, text=, role=, xpath= or ref=` }
  return rest.trim() === '' ? { field: 'selector', issue: 'must not be empty' } : undefined
}

/** Returns Playwright's form of a selector; one without an engine's name is CSS. */
function engineSelector(selector: string): string {
  const trimmed = selector.trim()
  const [, ref, number] = /^ref=(\w+?)(?:u(\d+))?$/.exec(trimmed) ?? []
  if (ref !== undefined) return number === undefined ? `aria-ref=${ref}` : numberedSelector(ref, number)
  return /^[\w:-]+=|^\/\//.test(trimmed) ? trimmed : `css=${trimmed}`
}

/** Returns the first matching element, once it exists. Throws VALIDATION_ERROR for an unreadable selector. */
export async function locate(page: Page, selector: string): Promise<Locator> {
  const locator = page.locator(engineSelector(selector))
  await locator.count().catch((error: Error) => {
    // Other errors recur when the element is used.
    if (
      /parsing|Unexpected token|Unknown engine|SyntaxError|InvalidSelector|Selector cannot|not a function/.test(
        error.message,
      )
    )
      throw invalid('selector', `can't be read: ${firstLine(error)}`)
  })
  return locator.first()
}
