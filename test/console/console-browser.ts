/** The real Chromium before the console of a real server: one browser for a file of tests, one context for a page. */
import { globSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Browser, chromium, type Page, type Route } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { bundledChromium } from '#features/browser/chromium/bundled.ts'

const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

interface OpenOptions {
  /** Below the server's address. */
  path?: string
  width?: number
  height?: number
  theme?: 'light' | 'dark'
  language?: string
  /** Of each request, such as those that a gateway adds. */
  headers?: Record<string, string>
  /** Messages of the page's console that the test causes, such as those of a server that is gone. */
  expected?: RegExp
}

export interface ConsoleBrowser {
  /**
   * Opens the console in a context of its own, for one test, which fails if the page had problems: errors of the console,
   * violations of the policy, requests to other hosts, unhandled rejections, dialogs that a script has opened.
   */
  open(origin: string, options?: OpenOptions): Promise<Page>
  close(): Promise<void>
}

const root = new URL('../../console/', import.meta.url).pathname

/** Tests of an older build would say nothing about the sources. */
function requireBuild(): void {
  const changed = (file: string) => statSync(`${root}${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const built = changed('dist/files.json')
  const newer = globSync('{src/**/*.{ts,tsx,css},public/*,*.html}', {
    cwd: root,
    exclude: ['**/*.test.ts'],
  }).find(file => changed(file) > built)
  if (newer !== undefined)
    throw new Error(`${newer} has changed since the console was built: npm run prepare`)
}

/** Starts the browser that the service brings along; close it in `afterAll`. */
export async function startConsoleBrowser(): Promise<ConsoleBrowser> {
  requireBuild()
  const { path, libraries = '', fonts = '' } = await bundledChromium(tmpdir())
  const browser = await chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
    env: { LD_LIBRARY_PATH: libraries, FONTCONFIG_PATH: fonts, LANG: 'C.UTF-8' },
  })
  return { open: (origin, options) => openPage(browser, origin, options), close: () => browser.close() }
}

async function openPage(browser: Browser, origin: string, options: OpenOptions = {}): Promise<Page> {
  const {
    path = '/',
    width = 1440,
    height = 900,
    theme = 'light',
    language = 'en-US',
    expected,
    headers = {},
  } = options
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    locale: language,
    extraHTTPHeaders: headers,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  // As for all that a test waits for: the machine may be busy.
  context.setDefaultTimeout(120_000)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', message => {
    const text = `${message.text()} (${message.location().url})`
    if (message.type() === 'error' && !expected?.test(text)) problems.push(text)
  })
  page.on('dialog', async dialog => {
    if (dialog.type() === 'beforeunload') return dialog.accept()
    problems.push(`ran: ${dialog.type()} ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on('pageerror', error => problems.push(`error: ${error.stack ?? error.message}`))
  page.on('request', request => {
    const url = request.url()
    if (!/^(?:data|blob):/.test(url) && new URL(url).origin !== origin) problems.push(`foreign: ${url}`)
  })
  onTestFinished(async () => {
    await context.close()
    expect(problems).toEqual([])
  })
  await page.goto(`${origin}${path}`)
  return page
}

interface Violation {
  id: string
  help: string
  nodes: { html: string; failureSummary?: string }[]
}

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Violations of WCAG 2.2 AA and of good practice on the page as it is now, as texts; empty if there are none. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const run = `axe.run(document, { runOnly: ${JSON.stringify(rules)} }).then(({ violations }) => violations)`
  const violations = (await page.evaluate(run)) as Violation[]
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  )
}

/**
 * Looks at a view as the bars demand: no violation in both themes, wide and on a phone, and nothing scrolls sideways at 320
 * pixels. `settle` waits until the view shows what it has.
 */
export async function expectAccessible(page: Page, settle: (page: Page) => Promise<unknown>): Promise<void> {
  for (const width of [1440, 390])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await settle(page)
      expect(await findViolations(page), `${width} px, ${colorScheme}`).toEqual([])
    }
  await page.setViewportSize({ width: 320, height: 700 })
  await settle(page)
  expect(await sidewaysAt(page)).toEqual([])
}

/** Elements that reach beyond the right edge of the window, unless they scroll within themselves. */
export function sidewaysAt(page: Page): Promise<string[]> {
  return page.evaluate(`
    (() => {
      const scrolls = element => element && (/auto|scroll|hidden|clip/.test(getComputedStyle(element).overflowX) && element.tagName !== 'MAIN' || scrolls(element.parentElement))
      const outer = [document.documentElement, document.querySelector('main')].filter(element => element && element.scrollWidth > element.clientWidth)
      const beyond = [...document.body.querySelectorAll('*')].filter(element => element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element))
      return [...outer, ...beyond].map(element => element.outerHTML.slice(0, 200))
    })()`)
}

/** The next request to this address is answered as things are then, and the answer arrives once `arrive` is called. */
export async function answerLate(page: Page, address: string | RegExp) {
  const [read, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const answer = async (route: Route) => {
    const response = await route.fetch()
    read.resolve()
    await late.promise
    await route.fulfill({ response })
  }
  await page.route(address, answer, { times: 1 })
  return { read: read.promise, arrive: late.resolve }
}

/** Resolves once what the page knows now is drawn. */
export const drawn = (page: Page) =>
  page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')

/** Presses Tab until the element with this accessible role and name, once it is there, has the focus; fails after 100 presses. */
export async function tabTo(
  page: Page,
  role: Parameters<Page['getByRole']>[0],
  name: string | RegExp,
): Promise<void> {
  const target = page.getByRole(role, { name, exact: typeof name === 'string' })
  // Behind a dialog, nothing takes the focus.
  const inFront = page.locator('body:not(:has(dialog:modal)) *, dialog:modal *')
  await target.and(inFront).first().waitFor()
  for (let presses = 0; presses < 100; presses += 1) {
    const isThere = await target.evaluateAll(elements => elements.some(element => element.matches(':focus')))
    if (isThere) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not lead to ${role} "${name}".`)
}
