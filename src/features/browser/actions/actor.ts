import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { AppError, invalid } from '#platform/errors.ts'
import { type Outline, type OutlineOptions, outlineOf } from '../outline/outline.ts'
import { snapshotPage } from '../outline/snapshot-page.ts'
import { type Mask, maskJson, maskWithin } from '../secrets/mask.ts'
import { secretFields } from '../secrets/secret-fields.ts'
import type { BrowserSession, Tab } from '../sessions/browser-session.ts'
import { clipboardUseOf, prepareClipboard } from '../sessions/clipboard.ts'
import { readFacts } from '../sessions/page-facts.ts'
import type { Scene } from './action.ts'
import { actionError, timedOut } from './action-error.ts'
import { type ActionInput, type ActionResult, timeoutOf } from './actions.schema.ts'
import { Downloads } from './downloads.ts'
import { followNavigation } from './navigation.ts'
import { actions } from './registry.ts'
import { locate } from './selector.ts'
import { collectSideEffects } from './side-effects.ts'
import { Overdue, within } from './within.ts'

/** Time beyond an action's own timeout until the actor ends it (ms). */
const graceMs = 200
/** Max time in which a responsive page answers (ms). */
const answersWithinMs = 600
/** Max time for a new tab to open (ms). */
const tabLoadMs = 2000

const hung =
  'The page stopped responding, perhaps in an endless loop, so its tab was replaced by an empty one.'

const nameless = { title: '', favicon: '' }

/** Acts on the pages of one session, and remembers which changes its callers know. */
export class Actor {
  readonly session: BrowserSession
  readonly #sideEffects: ReturnType<typeof collectSideEffects>
  #replacing: Promise<void> | undefined
  #known: ReadonlySet<string> = new Set()
  #refs: ReadonlySet<string> = new Set()
  /** The page of the latest outline, to which the references belong. */
  #outlined: Page | undefined
  /** Tabs that callers know. */
  #reported = new WeakSet<Tab>()
  readonly downloads: Downloads

  private constructor(session: BrowserSession, downloads: Downloads) {
    this.session = session
    this.#sideEffects = collectSideEffects(session)
    this.downloads = downloads
    for (const tab of session.tabs) this.#reported.add(tab)
  }

  static async of(session: BrowserSession, maxBytes: number): Promise<Actor> {
    return new Actor(session, await Downloads.follow(session, maxBytes))
  }

  /**
   * Runs one action, within its timeout plus a grace period, and returns its result.
   * @throws AppError VALIDATION_ERROR, ACTION_TIMEOUT, OUTBOUND_REFUSED or BROWSER_FAILED.
   */
  async perform(input: ActionInput, signal: AbortSignal): Promise<ActionResult> {
    signal.throwIfAborted()
    const timeout = timeoutOf(input)
    const circumstances = { waited: actions[input.action].waitsFor(input), timeout }
    // A list of actions can take longer than a session's max idle time.
    this.session.touch()
    const all = input.dialog === 'accept'
    this.#sideEffects.acceptDialogs({ all, leaving: actions[input.action].leavesPage === true })
    const outcome = await this.#run(input, timeout, signal)
    this.#sideEffects.acceptDialogs({ all: false, leaving: false })
    if (outcome.kind === 'done') return await this.#masked(outcome.result)
    if (outcome.kind === 'failed')
      throw this.#maskedError(this.#withLateTab(actionError(outcome.error, circumstances)))
    const { tab, own } = outcome
    const isStuck = tab === undefined || !(await answers(tab.page))
    if (isStuck && tab !== undefined) this.#replacing = this.#replace(tab.page)
    const late = timedOut({ ...circumstances, reason: isStuck ? hung : '' })
    if (!isStuck) throw this.#withLateTab(late)
    if (own === undefined) throw late
    return await this.#masked({ ...own, url: 'about:blank', title: '', note: hung })
  }

  /** Never rejects. */
  async #replace(page: Page): Promise<void> {
    const tab = await this.session.replaceTab(page).catch(noted)
    if (tab !== undefined) this.#reported.add(tab)
  }

  /** Returns the page's changes after it was last read, or read after an action. */
  async changes(characters: number): Promise<string> {
    const page = await this.session.page()
    const known = this.#outlined === page ? this.#known : new Set<string>()
    return (await this.#outline(page, { known, characters })).text
  }

  /** Returns true if a value typed in the field must be hidden, or if that is unknown. */
  async isSecret(ref: string): Promise<boolean> {
    const page = this.session.activeTab?.page
    if (page === undefined || !this.#refersTo(page, ref)) return true
    const field = page.locator(`aria-ref=${ref}`)
    const isSecret = field.and(page.locator(secretFields)).count()
    const count = isSecret.catch(() => 1)
    return (await Promise.race([count, delay(answersWithinMs, 1, { ref: false })])) > 0
  }

  /** Returns the address of the frame with the field; without a field that of the page, or words where frames of several hosts can have the focus. */
  async addressOf(ref?: string): Promise<string | undefined> {
    const page = this.session.activeTab?.page
    if (ref === undefined) return page && placeOf(page)
    const field = page?.locator(`aria-ref=${ref}`).elementHandle({ timeout: answersWithinMs })
    // Refs of what only the outline knows are of no frame that can be asked for.
    const frame = await field?.then(handle => handle?.ownerFrame()).catch(() => undefined)
    return frame?.url() ?? (page && placeOf(page))
  }

  /** Runs the action, then awaits its effects, both within the remaining time. */
  async #run(input: ActionInput, timeout: number, signal: AbortSignal): Promise<Outcome> {
    const deadline = performance.now() + timeout
    const left = () => Math.max(1, deadline - performance.now())
    const inTime = <Value>(work: Promise<Value>) => within(work, left() + graceMs, signal)
    const reached: { tab?: Tab; own?: ActionResult } = {}
    let follow: ReturnType<typeof followNavigation> | undefined
    try {
      const tab = await inTime(this.#ready())
      reached.tab = tab
      this.session.events.emit('action.began', announced(input))
      if (actions[input.action].mayNavigate) follow = followNavigation(tab.page)
      const acted = await inTime(this.#act(tab, input, { left, follow }))
      reached.own = acted.own
      const effects = await inTime(this.#effects(input, { left, follow, ...acted }))
      return { kind: 'done', result: { ...acted.own, ...effects } }
    } catch (error) {
      return error instanceof Overdue ? { kind: 'late', ...reached } : { kind: 'failed', error }
    } finally {
      follow?.end()
      // Otherwise the browser would continue loading for a caller who has left.
      if (signal.aborted && follow !== undefined) void reached.tab?.cdp.send('Page.stopLoading').catch(noted)
    }
  }

  /** Returns the tab to act in, after the replacement of one that hung. */
  async #ready(): Promise<Tab> {
    await this.#replacing
    return await this.session.tab()
  }

  /** Returns the action's own result; empty if its effect has ended it. */
  async #act(tab: Tab, input: ActionInput, { left, follow }: Following): Promise<Acted> {
    try {
      const own = await actions[input.action].run(this.#sceneOf(tab, left(), input.action), input)
      return { own: own ?? {} }
    } catch (error) {
      if (/net::(?!ERR_ABORTED)/.test(String(error))) await follow?.failureShown()
      const failure = this.#unreachable(follow?.address())
      if (failure !== undefined || !isEffect(error, follow && tab)) throw failure ?? error
      return { own: {}, endedBy: isDownload(error) ? 'download' : 'closing' }
    }
  }

  /** Returns the page after the action, and its other effects. */
  async #effects(
    { action }: ActionInput,
    { left, follow, endedBy }: Following & Acted,
  ): Promise<ActionResult> {
    if (endedBy === undefined) await follow?.settle(left())
    if (endedBy === undefined && follow !== undefined) await this.#newTabs(Math.min(left(), tabLoadMs))
    const failure = this.#unreachable(follow?.address())
    if (failure !== undefined && action === 'navigate') throw failure
    const besides = await this.#besides({ timeout: left(), isDownload: endedBy === 'download' })
    return { ...(await this.#where(left())), ...besides, ...(failure && { note: failure.message }) }
  }

  #sceneOf({ page, cdp }: Tab, timeout: number, action: ActionInput['action']): Scene {
    return {
      page,
      cdp,
      timeout,
      locate: async selector => {
        const ref = /^\s*ref=(.*)$/.exec(selector)?.[1]?.trim()
        if (ref === undefined) return await locate(page, selector)
        const gone = `ref=${ref} is not in the latest outline of this page; read the page again`
        if (!this.#refersTo(page, ref)) throw invalid('selector', gone)
        const element = await locate(page, selector)
        // An element that has left the page is never found again; its frame might be gone, too.
        const isThere = (await element.count().catch(() => 0)) > 0
        if (!isThere && action !== 'wait') throw invalid('selector', gone)
        return element
      },
      keepSecret: value => this.session.secrets.keep([value]),
      useClipboard: async key => {
        const use = clipboardUseOf(key)
        if (use !== undefined) await prepareClipboard(this.session, page, use)
      },
      outline: options => this.#outline(page, options),
      tabs: {
        all: () => this.session.tabs,
        activate: tab => this.session.activate(tab),
        describe: () => {
          const { tabs, activeTab } = this.session
          const described = tabs.map(async (tab, at) => {
            return { tab: at + 1, ...(await describeTab(tab)), ...(tab === activeTab && { active: true }) }
          })
          return Promise.all(described)
        },
      },
    }
  }

  #refersTo(page: Page, ref: string): boolean {
    return this.#outlined === page && this.#refs.has(ref)
  }

  async #where(timeout: number): Promise<{ url: string; title: string }> {
    const page = await this.session.page()
    if (page.url() === '') await page.waitForLoadState('domcontentloaded', { timeout }).catch(() => {})
    const facts = await readFacts(page, timeout).catch(() => nameless)
    if (page.isClosed()) return await this.#where(timeout)
    // Secrets must be known before anything of the page is shown.
    await this.session.secrets.read(page)
    return { url: page.url().slice(0, 2000), title: facts.title }
  }

  /** Waits until the session has taken over the tabs that its pages have opened. */
  async #newTabs(timeout: number): Promise<void> {
    const end = performance.now() + timeout
    const connection = this.session.activeTab?.cdp
    const count = async () => {
      const { targetInfos = [] } = (await connection?.send('Target.getTargets')) ?? {}
      return targetInfos.filter(
        ({ type, browserContextId }) =>
          type === 'page' && browserContextId === this.downloads.browserContextId,
      ).length
    }
    while ((await count().catch(() => 0)) > this.session.tabs.length && performance.now() < end)
      await delay(20)
  }

  async #besides({ timeout, isDownload }: Waiting): Promise<ActionResult> {
    const downloads = await this.downloads.news(timeout, isDownload)
    const opened = this.#unreported()
    for (const tab of opened) this.#reported.add(tab)
    const empty = downloads.length > 0 ? opened.filter(({ page }) => page.url() === '') : []
    // A tab that was opened only for a download shows nothing.
    for (const { page } of empty) await page.close().catch(() => {})
    const shown = opened.filter(tab => !empty.includes(tab) && !tab.page.isClosed())
    const tabs = await Promise.all(shown.map(describeTab))
    return {
      ...this.#sideEffects.take(),
      ...(tabs.length > 0 && { tabs }),
      ...(downloads.length > 0 && { downloads: downloads.map(({ url: _url, ...shown }) => shown) }),
    }
  }

  async #outline(page: Page, options: Partial<OutlineOptions>): Promise<Outline> {
    const { find, ref } = options
    const { nodes, isPart } = await snapshotPage(page, {
      find,
      ref: this.#refersTo(page, ref ?? '') ? ref : undefined,
    })
    // Secrets must be known before anything of the page is shown.
    await this.session.secrets.read(page)
    const viewportHeight = page.viewportSize()?.height ?? 720
    const mask = this.session.secrets.mask()
    const outline = outlineOf(nodes, { ...options, viewportHeight, mask, isPart })
    this.#known = new Set(outline.lines.map(({ key }) => key))
    this.#outlined = page
    this.#refs = new Set(outline.lines.flatMap(({ ref }) => ref ?? []))
    return outline
  }

  /** Masks all but the image, whose letters can match a secret by chance. A value can be long. */
  async #masked({ image, value, ...others }: ActionResult): Promise<ActionResult> {
    const mask = this.session.secrets.mask()
    return {
      ...(image !== undefined && { image }),
      ...(value !== undefined && { value: await maskValue(value, mask) }),
      ...(maskWithin(others, mask) as ActionResult),
    }
  }

  /** Returns tabs that callers do not know; a single tab only replaces another. */
  #unreported(): Tab[] {
    const { tabs } = this.session
    return tabs.length === 1 ? [] : tabs.filter(tab => !this.#reported.has(tab))
  }

  /** Adds the tab in which the action was tried, if callers do not know that tab. */
  #withLateTab(error: AppError): AppError {
    const tab = this.session.activeTab
    if (tab === undefined || !this.#unreported().includes(tab)) return error
    const { code, message, details, cause } = error
    const late = `${message.replace(/[^.!?]$/, '$&.')} A new tab has opened and is the active one: ${tab.page.url().slice(0, 200)}`
    return new AppError(code, late, { ...(details && { details }), cause })
  }

  #maskedError({ code, message, details, cause }: AppError): AppError {
    const masked = this.session.secrets.mask()(message)
    return new AppError(code, masked, { ...(details && { details }), cause })
  }

  /** Returns the reason that the guard refused a connection to that address. */
  #unreachable(address: string | undefined): AppError | undefined {
    const known = address === undefined ? undefined : this.session.unreachable(address)
    return (
      known && new AppError(known.kind === 'refused' ? 'OUTBOUND_REFUSED' : 'BROWSER_FAILED', known.message)
    )
  }
}

async function describeTab({ page }: Tab) {
  const { title } = await readFacts(page, tabLoadMs).catch(() => nameless)
  return { url: page.url().slice(0, 2000), title }
}

/** Returns the public part of an action, without typed text. */
function announced({ action, selector, url }: ActionInput) {
  return { action, ...(selector !== undefined && { selector }), ...(url !== undefined && { url }) }
}

async function maskValue(value: unknown, mask: Mask): Promise<unknown> {
  if (typeof value === 'string') return await mask.long(value)
  return JSON.parse(await maskJson(JSON.stringify(value), mask, true))
}

/** The outcome of a run. A late one can have its own result already, and before that a tab. */
type Outcome =
  | { kind: 'done'; result: ActionResult }
  | { kind: 'failed'; error: unknown }
  | { kind: 'late'; tab?: Tab; own?: ActionResult }

interface Acted {
  own: ActionResult
  /** The address was a download, or the page closed itself. */
  endedBy?: 'download' | 'closing'
}

interface Following {
  /** Returns the remaining milliseconds. */
  left(): number
  follow: ReturnType<typeof followNavigation> | undefined
}

interface Waiting {
  /** Milliseconds. */
  timeout: number
  /** True if a download has begun. */
  isDownload: boolean
}

/** The browser downloads a page that it can't show. */
const isDownload = (error: unknown) => /Download is starting/.test(String(error))

/** True if the error is the action's intended effect; a page can also close itself. */
function isEffect(error: unknown, tab: Tab | undefined): boolean {
  return isDownload(error) || (tab?.page.isClosed() === true && !tab.hasCrashed)
}

async function answers(page: Page): Promise<boolean> {
  // A page that navigates meanwhile does not hang either.
  const answer = page
    .locator(':root')
    .count()
    .then(
      () => true,
      () => true,
    )
  return await Promise.race([answer, delay(answersWithinMs, false, { ref: false })])
}

function noted(): void {}

/** Returns the address of a page whose frames are of one host, else words that name all: a page can move the focus to any. */
function placeOf(page: Page): string {
  const addresses = page.frames().map(frame => frame.url())
  const hosts = new Set(addresses.map(address => URL.parse(address)?.host))
  return hosts.size === 1 ? page.url() : `one of the frames ${[...new Set(addresses)].join(', ')}`
}
