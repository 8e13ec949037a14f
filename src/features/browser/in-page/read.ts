import type { Frame, Locator, Page } from 'playwright-core'
import { createClickTarget, createNumbered } from './click-target.ts'
import { createNearest, type NearestOptions } from './nearest.ts'
import { popupFields } from './popup-fields.ts'
import { readers as pageReaders } from './readers.ts'

const readers = { ...pageReaders, ...popupFields }
type Readers = typeof readers
type Reader = keyof Readers
type Argument<Name extends Reader> = Parameters<Readers[Name]>[1]

const engineName = 'agentstead'
const nearestName = 'agentstead-nearest'
const numberedName = 'agentstead-numbered'
const clickTargetName = 'agentstead-click-target'

declare const document: { createElement(name: string): { textContent: string } }

/** A selector engine runs where page scripts have no access: the element it finds holds the result. */
function createEngine(all: Record<string, (root: unknown, argument: never) => unknown>) {
  return {
    queryAll(root: unknown, body: string) {
      const { name, argument } = JSON.parse(decodeURIComponent(body))
      const found = document.createElement('p')
      found.textContent = JSON.stringify(all[name]?.(root, argument as never))
      return [found]
    },
  }
}

let registered: Promise<void> | undefined

/** Must be called before the contexts are created whose pages are read. */
export function prepareReading(): Promise<void> {
  registered ??= register()
  return registered
}

async function register(): Promise<void> {
  const { selectors } = await import('playwright-core')
  const functions = Object.entries(readers).map(
    ([name, reader]) => `${JSON.stringify(name)}: ${asExpression(reader)}`,
  )
  const content = `(${createEngine})({${functions.join()}})`
  await selectors.register(engineName, { content }, { contentScript: true })
  const engines = {
    [nearestName]: createNearest,
    [numberedName]: createNumbered,
    [clickTargetName]: createClickTarget,
  }
  for (const [name, create] of Object.entries(engines))
    await selectors.register(name, { content: `(${create})()` }, { contentScript: true })
}

/** The source of a method is no expression. */
function asExpression(reader: (...given: never[]) => unknown): string {
  const source = String(reader)
  return /^[\w$]+\(/.test(source) ? `function ${source}` : source
}

/**
 * Runs a reader on the page, a frame, or the first element that a locator finds.
 * @param timeout max wait for its result (ms)
 * @throws TimeoutError of Playwright
 */
export async function read<Name extends Reader>(
  scope: Page | Frame | Locator,
  name: Name,
  argument: Argument<Name>,
  timeout: number,
): Promise<ReturnType<Readers[Name]>> {
  const body = encodeURIComponent(JSON.stringify({ name, argument }))
  const text = await scope.locator(`${engineName}=${body}`).textContent({ timeout })
  return JSON.parse(text ?? 'null')
}

/** Returns the parts of the frame or element that are nearest to the window, as if they were one element. */
export function nearestIn(scope: Frame | Locator, options: NearestOptions): Locator {
  return scope.locator(`${nearestName}=${encodeURIComponent(JSON.stringify(options))}`)
}

/** Returns a selector by the number of `collectUsable`, within the element of a Playwright reference. */
export const numberedSelector = (ref: string, number: string) =>
  `aria-ref=${ref} >> ${numberedName}=${number}`

/** Returns the element to click: the label of an element that can't be clicked itself. */
export const clickTarget = (locator: Locator) => locator.locator(`${clickTargetName}=1`)
