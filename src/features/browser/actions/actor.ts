import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { AppError, invalid } from '#platform/errors.ts'
import { maskWithin } from '../outline/mask.ts'
import type { Outline, OutlineOptions } from '../outline/outline.ts'
import { outlineOf } from '../outline/outline.ts'
import { secretFields } from '../outline/secret-fields.ts'
import type { SnapshotNode } from '../outline/snapshot.ts'
import type { BrowserSession } from '../sessions/browser-session.ts'
import type { Scene } from './action.ts'
import { actionError, timedOut } from './action-error.ts'
import type { ActionInput, ActionResult } from './actions.schema.ts'
import { defaultTimeout } from './actions.schema.ts'
import { Downloads } from './downloads.ts'
import { collectHappenings } from './happenings.ts'
import { matchesSelector } from './in-page.ts'
import { followNavigation } from './navigation.ts'
import { actions } from './registry.ts'
import { locate } from './selector.ts'
import { Overdue, within } from './within.ts'

/** Milliseconds beyond an action's own time-out until it is ended from outside. */
const graceMs = 200
/** Milliseconds in which a page that does not hang answers. */
const answersWithinMs = 600
/** Milliseconds for a new tab to load before it is told of. */
const tabLoadMs = 2000

const hung =
  'The page stopped responding, perhaps in an endless loop, so its tab was replaced by an empty one.'

/** Acts on the pages of one session, and remembers what its callers have been told. */
export class Actor {
  readonly session: BrowserSession
  readonly #happenings: ReturnType<typeof collectHappenings>
  #replacing: Promise<void> | undefined
  #known: ReadonlySet<string> = new Set()
  #refs: ReadonlySet<string> = new Set()
  readonly downloads: Downloads

  private constructor(session: BrowserSession, downloads: Downloads) {
    this.session = session
    this.#happenings = collectHappenings(session)
    this.downloads = downloads
  }

  static async of(session: BrowserSession, maxBytes: number): Promise<Actor> {
    return new Actor(session, await Downloads.follow(session, maxBytes))
  }

  /**
   * Does one thing, within its time-out and a little more, and tells what came of it.
   * @throws AppError VALIDATION_ERROR, ACTION_TIMEOUT, OUTBOUND_REFUSED or BROWSER_FAILED.
   */
  async perform(input: ActionInput, signal: AbortSignal): Promise<ActionResult> {
    signal.throwIfAborted()
    const { dialog } = input
    const action = actions[input.action]
    const { timeout = action.usualTimeout ?? defaultTimeout } = input
    const circumstances = { waited: action.waitsFor(input), timeout }
    // A list of actions may take longer than a session may be idle.
    this.session.touch()
    await this.#replacing
    const page = await this.session.page()
    this.#happenings.acceptDialogs(dialog === 'accept')
    this.session.events.emit('action.began', told(input))
    const deadline = performance.now() + timeout
    const progress: Progress = {}
    try {
      const work = this.#act(page, input, { deadline, progress })
      return this.#masked(await within(work, timeout + graceMs, signal))
    } catch (error) {
      progress.isOver = true
      if (!(error instanceof Overdue)) throw this.#told(actionError(error, circumstances))
      const isStuck = !(await answers(page))
      if (isStuck) this.#replacing = this.session.replaceTab(page).then(noted, noted)
      if (!isStuck || progress.own === undefined)
        throw timedOut({ ...circumstances, reason: isStuck ? hung : '' })
      return this.#masked({ ...progress.own, url: 'about:blank', title: '', note: hung })
    } finally {
      this.#happenings.acceptDialogs(false)
    }
  }

  /** What has changed on the page since it was last read, or read after an action. */
  async changes(characters: number): Promise<string> {
    const page = await this.session.page()
    return (await this.#outline(page, { known: this.#known, characters })).text
  }

  /** Whether a value typed here is one that appears nowhere; so it is as long as that is unknown. */
  async isSecret(ref: string): Promise<boolean> {
    const page = this.session.activeTab?.page
    if (page === undefined || !this.#refs.has(ref)) return true
    const field = page.locator(`aria-ref=${ref}`)
    return await field.evaluate(matchesSelector, secretFields, { timeout: answersWithinMs }).catch(() => true)
  }

  async #act(page: Page, input: ActionInput, { deadline, progress }: Bounds): Promise<ActionResult> {
    const action = actions[input.action]
    const left = () => Math.max(1, deadline - performance.now())
    const tabs = new Set(this.session.tabs)
    const follow = action.mayNavigate ? followNavigation(page) : undefined
    try {
      progress.own = (await action.run(this.#sceneOf(page, left(), input.action), input)) ?? {}
      await follow?.settle(left())
      if (follow) await this.#newTabs(Math.min(left(), tabLoadMs))
    } catch (error) {
      if (progress.isOver) throw error
      if (/net::(?!ERR_ABORTED)/.test(String(error))) await follow?.failureShown()
      const failure = this.#unreachable(follow?.address()) ?? error
      if (!isEffect(error, follow && page)) throw failure
      progress.isDownload = isDownload(error)
    } finally {
      follow?.end()
    }
    const failure = this.#unreachable(follow?.address())
    if (failure !== undefined && input.action === 'navigate') throw failure
    const besides = await this.#besides(tabs, { timeout: left(), isDownload: progress.isDownload ?? false })
    return {
      ...progress.own,
      ...(await this.#where(left())),
      ...besides,
      ...(failure && { note: failure.message }),
    }
  }

  #sceneOf(page: Page, timeout: number, action: ActionInput['action']): Scene {
    return {
      page,
      timeout,
      locate: async selector => {
        const ref = /^\s*ref=(.*)$/.exec(selector)?.[1]?.trim()
        if (ref === undefined) return await locate(page, selector)
        const gone = `ref=${ref} is not in the latest outline of this page; read the page again`
        if (!this.#refs.has(ref)) throw invalid('selector', gone)
        const element = await locate(page, selector)
        // One whose element has left the page never finds another; its frame may be gone, too.
        const isThere = (await element.count().catch(() => 0)) > 0
        if (!isThere && action !== 'wait') throw invalid('selector', gone)
        return element
      },
      keepSecret: value => this.session.secrets.keep([value]),
      outline: options => this.#outline(page, options),
    }
  }

  async #where(timeout: number): Promise<{ url: string; title: string }> {
    const page = await this.session.page()
    if (page.url() === '') await page.waitForLoadState('domcontentloaded', { timeout }).catch(() => {})
    // It fails while the page is on its way to another address, and when it closes itself.
    const title = await page.title().catch(() => (page.isClosed() ? undefined : page.title().catch(() => '')))
    if (title === undefined) return await this.#where(timeout)
    // So that they are known before anything of the page is told.
    await this.session.secrets.read(page)
    return { url: page.url().slice(0, 2000), title: title.slice(0, 500) }
  }

  /** Until the session has taken over the tabs that its pages have opened. */
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

  async #besides(before: ReadonlySet<unknown>, { timeout, isDownload }: Waiting): Promise<ActionResult> {
    const downloads = await this.downloads.news(timeout, isDownload)
    const opened = this.session.tabs.filter(tab => !before.has(tab))
    const empty = downloads.length > 0 ? opened.filter(({ page }) => page.url() === '') : []
    // A tab that was opened only for a download shows nothing.
    for (const { page } of empty) await page.close().catch(() => {})
    const shown = opened.filter(tab => !empty.includes(tab) && !tab.page.isClosed())
    const tabs = await Promise.all(
      shown.map(async ({ page }) => {
        const title = await Promise.race([page.title().catch(() => ''), delay(tabLoadMs, '', { ref: false })])
        return { url: page.url(), title }
      }),
    )
    return {
      ...this.#happenings.take(),
      ...(tabs.length > 0 && { tabs }),
      ...(downloads.length > 0 && { downloads: downloads.map(({ url: _url, ...told }) => told) }),
    }
  }

  async #outline(page: Page, options: Partial<OutlineOptions>): Promise<Outline> {
    const nodes = (await page.ariaSnapshotJSON({ mode: 'ai', boxes: true })) as unknown as SnapshotNode[]
    // So that they are known before anything of the page is told.
    await this.session.secrets.read(page)
    const viewportHeight = page.viewportSize()?.height ?? 720
    const outline = outlineOf(nodes, { ...options, viewportHeight, mask: this.session.secrets.mask() })
    this.#known = new Set(outline.lines.map(({ key }) => key))
    this.#refs = new Set(outline.lines.flatMap(({ ref }) => ref ?? []))
    return outline
  }

  /** In the letters of a picture, which hides them itself, a secret stands by chance. */
  #masked({ image, ...told }: ActionResult): ActionResult {
    const masked = maskWithin(told, this.session.secrets.mask()) as ActionResult
    return image === undefined ? masked : { image, ...masked }
  }

  #told(error: AppError): AppError {
    const { code, details, cause } = error
    return new AppError(code, this.session.secrets.mask()(error.message), {
      ...(details && { details }),
      cause,
    })
  }

  /** Why the guard gave no connection to that address. */
  #unreachable(address: string | undefined): AppError | undefined {
    const known = address === undefined ? undefined : this.session.unreachable(address)
    return (
      known && new AppError(known.kind === 'refused' ? 'OUTBOUND_REFUSED' : 'BROWSER_FAILED', known.message)
    )
  }
}

/** What others see of an action: never what is typed. */
function told({ action, selector, url }: ActionInput) {
  return { action, ...(selector !== undefined && { selector }), ...(url !== undefined && { url }) }
}

interface Progress {
  /** What the action itself gave, before anything was waited for after it. */
  own?: ActionResult
  /** The address was one to download. */
  isDownload?: boolean
  /** Nobody waits for it any more. */
  isOver?: boolean
}

interface Bounds {
  /** By `performance.now()`. */
  deadline: number
  progress: Progress
}

interface Waiting {
  /** Milliseconds. */
  timeout: number
  /** Whether a download has begun. */
  isDownload: boolean
}

/** What a browser does not show, it downloads. */
const isDownload = (error: unknown) => /Download is starting/.test(String(error))

/** Whether it tells of what the action was for; a page may also close itself. */
function isEffect(error: unknown, page: Page | undefined): boolean {
  return isDownload(error) || (page?.isClosed() === true && !/crash/i.test(String(error)))
}

async function answers(page: Page): Promise<boolean> {
  // A page that goes to another address meanwhile does not hang either.
  const answer = page.evaluate('true').then(
    () => true,
    () => true,
  )
  return await Promise.race([answer, delay(answersWithinMs, false, { ref: false })])
}

function noted(): void {}
