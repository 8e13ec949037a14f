import type { CDPSession, Locator, Page } from 'playwright-core'
import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { SchemaProblem } from '#platform/schema-problem.ts'
import type { Outline, OutlineOptions } from '../outline/outline.ts'
import type { Tab } from '../sessions/browser-session.ts'

/** The surroundings of an action. */
export interface Scene {
  page: Page
  cdp: CDPSession
  /** Max wait of the action (ms). */
  timeout: number
  /** Returns the first match, once it exists. Throws VALIDATION_ERROR for an unreadable selector. */
  locate(selector: string): Promise<Locator>
  /** Hides the value in all results of the session. */
  keepSecret(value: string): void
  /** Must be called before a key combination is pressed. */
  useClipboard(key: string): Promise<void>
  /** Returns the page as text for a model. */
  outline(options: Pick<OutlineOptions, 'find' | 'ref' | 'characters'>): Promise<Outline>
  tabs: {
    all(): readonly Tab[]
    activate(tab: Tab): void
    /** Returns the tabs for callers, each with its number. */
    describe(): Promise<object[]>
  }
}

/** Max bytes (UTF-8) of a value that a page returns; a longer text is cut. */
export const maxValue = 1024 * 1024

type Given<Fields extends TProperties> = Static<TObject<Fields>>
type Result = Record<string, unknown>

export interface BrowserAction<Fields extends TProperties = TProperties> {
  fields: Fields
  /** Returns the problem of fields that match their schema. */
  check?(given: Given<Fields>): SchemaProblem | undefined
  /** The words after "waited for" in the error of a timeout. */
  waitsFor(given: Given<Fields>): string
  /** Timeout if a request names none (ms); defaults to 5000. */
  usualTimeout?: number
  /** True if the action can lead to another page, which is awaited. */
  mayNavigate?: boolean
  /** True if the action leaves the page even if the page asks to stay. */
  leavesPage?: boolean
  run(scene: Scene, given: Given<Fields>): Promise<Result | undefined>
}

export interface DefinedAction extends BrowserAction {
  schema: TObject
}

/** Fields are checked against the schema before they reach the action, so the wider type is correct. */
export function defineAction<Fields extends TProperties>(action: BrowserAction<Fields>): DefinedAction {
  return { ...(action as unknown as BrowserAction), schema: Type.Object(action.fields) }
}

export const selectorField = Type.String({
  minLength: 1,
  maxLength: 2000,
  description:
    'Selects the first matching element: CSS, `text=`, `role=`, `xpath=`, or `ref=` with a reference from the latest outline.',
})
