import type { Frame, Locator, Page } from 'playwright-core'
import { createClickTarget, createNumbered } from './click-target.ts'
import type { NearestOptions } from './nearest.ts'
import { createNearest } from './nearest.ts'
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

/** An engine of selectors runs where the scripts of pages reach nothing: the element that it finds holds what was read. */
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

/** To be called before the contexts are made whose pages are read. */
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

/** Methods are no expressions. */
function asExpression(reader: (...given: never[]) => unknown): string {
  const source = String(reader)
  return /^[\w$]+\(/.test(source) ? `function ${source}` : source
}

/**
 * Has a reader read the page, a frame, or the first element that a locator finds.
 * @param timeout milliseconds in which it answers
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

/** The parts of the frame, or within an element, that lie nearest to the window, as if they were one element. */
export function nearestIn(scope: Frame | Locator, options: NearestOptions): Locator {
  return scope.locator(`${nearestName}=${encodeURIComponent(JSON.stringify(options))}`)
}

/** A selector of an element by the number that `collectUsable` gave it, within the element with a reference of Playwright. */
export const numberedSelector = (ref: string, number: string) =>
  `aria-ref=${ref} >> ${numberedName}=${number}`

/** The element to click for the one that a locator finds: its label, where it can't take a click itself. */
export const clickTarget = (locator: Locator) => locator.locator(`${clickTargetName}=1`)
