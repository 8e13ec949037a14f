import type { CDPSession, Locator, Page } from 'playwright-core'
import type { Static, TObject, TProperties } from 'typebox'
import { Type } from 'typebox'
import type { SchemaProblem } from '#platform/schema-problem.ts'
import type { Outline, OutlineOptions } from '../outline/outline.ts'
import type { Tab } from '../sessions/browser-session.ts'

/** The surroundings of an action. */
export interface Scene {
  page: Page
  cdp: CDPSession
  /** Milliseconds for what it waits for. */
  timeout: number
  /** The first element that the selector finds, once there is one. Throws VALIDATION_ERROR if the selector can't be read. */
  locate(selector: string): Promise<Locator>
  /** The value will not appear in any result of the session. */
  keepSecret(value: string): void
  /** To be called before a key is pressed with others. */
  useClipboard(key: string): Promise<void>
  /** The page as text for a model. */
  outline(options: Pick<OutlineOptions, 'find' | 'ref' | 'characters'>): Promise<Outline>
  tabs: {
    all(): readonly Tab[]
    activate(tab: Tab): void
    /** For callers: each with its number. */
    describe(): Promise<object[]>
  }
}

/** Bytes of UTF-8 of a value that a page gives; a longer text is cut. */
export const maxValue = 1024 * 1024

type Given<Fields extends TProperties> = Static<TObject<Fields>>
type Result = Record<string, unknown>

export interface BrowserAction<Fields extends TProperties = TProperties> {
  fields: Fields
  /** The problem of fields that fit their schema. */
  check?(given: Given<Fields>): SchemaProblem | undefined
  /** The words after "waited for" in the error of a time-out. */
  waitsFor(given: Given<Fields>): string
  /** Milliseconds where a request names none; 5000 unless given. */
  usualTimeout?: number
  /** Whether it may lead to another page, which is waited for. */
  mayNavigate?: boolean
  /** Whether it is meant to leave the page, whatever the page asks. */
  leavesPage?: boolean
  run(scene: Scene, given: Given<Fields>): Promise<Result | undefined>
}

export interface DefinedAction extends BrowserAction {
  schema: TObject
}

/** Fields are checked against the schema before they reach the action, which makes the wider type true. */
export function defineAction<Fields extends TProperties>(action: BrowserAction<Fields>): DefinedAction {
  return { ...(action as unknown as BrowserAction), schema: Type.Object(action.fields) }
}

export const selectorField = Type.String({
  minLength: 1,
  maxLength: 2000,
  description:
    'Selects the first matching element: CSS, `text=`, `role=`, `xpath=`, or `ref=` with a reference from the latest outline.',
})
