import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, BrowserContext, CDPSession, Dialog, Page } from 'playwright-core'
import type { Clock } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import type { ForwardProxy, Unreachable } from '#platform/outbound/forward-proxy.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { DevToolsConnection } from '../chromium/devtools/connection.ts'
import { connectionOf } from '../chromium/start.ts'
import { prepareReading } from '../in-page/read.ts'
import { Secrets } from '../secrets/secrets.ts'
import { shareClipboard } from './clipboard.ts'
import { HiddenPages } from './hidden-pages.ts'
import { isOpenable } from './openable-address.ts'
import { type Facts, readFacts } from './page-facts.ts'
import type { SessionEvents } from './session-events.ts'
import { isOpen, type SessionStatus } from './session-status.ts'
import type { Viewport } from './sessions.schema.ts'
import type { Takeover } from './takeover.ts'
import { TurnQueue } from './turn-queue.ts'
import { alignBrands } from './user-agent.ts'

/** A context's `storageState` as an object. */
export type StorageState = NonNullable<
  Exclude<NonNullable<Parameters<Browser['newContext']>[0]>['storageState'], string>
>

/** Returns the session for actions. @throws AppError NOT_FOUND if there is none, CONFLICT if it has ended */
export type OpenSession = (agent: AgentHandle, id: string) => Promise<BrowserSession>

interface Options {
  id: string
  agentId: string
  browser: Browser
  proxy: ForwardProxy
  viewport: Viewport
  userAgent: string
  storageState: StorageState | undefined
  /** Defaults to true; a caller that permits downloads must limit their size. */
  acceptDownloads?: boolean
  clock: Clock
}

/** One tab. Use its `cdp` for the DevTools protocol; do not open another connection. */
export interface Tab extends Facts {
  /** Its target id in the DevTools protocol. */
  pageId: string
  page: Page
  cdp: CDPSession
  /** True if its process died. */
  hasCrashed: boolean
}

/** Max tabs of a session; a page can open any number, at any speed. */
const maxTabs = 50
/** Max time to close a page that no longer answers (ms). */
const closeMs = 3000
/** Time in which running work fails by itself once the session can't continue (ms). */
const failsWithinMs = 1000
/** Max time in which a responsive page reports its title and icon (ms). */
const factsMs = 2000
/** Max characters of a console line, or of a dialog's message. */
const maxLine = 4096
/** Max characters of an address. */
const maxAddress = 2000

/**
 * An isolated context of a browser with its tabs. One is active: the last opened, unless it was closed or
 * another one activated. An open session always has an active tab.
 */
export class BrowserSession {
  readonly id: string
  readonly agentId: string
  readonly context: BrowserContext
  readonly hidden: HiddenPages
  /** True if its browser is on another machine, whose files can't be read here. */
  readonly isRemote: boolean
  readonly events = new EventEmitter<SessionEvents>()
  readonly secrets = new Secrets()
  /** Text typed while watchers saw no picture: no message to them contains it. */
  readonly typed = new Secrets()
  /** Answers dialogs; by default, alerts are accepted and all others dismissed. */
  answerDialog: (dialog: Dialog) => Promise<void> = answerAsUsual
  /** The takeover, whose person drives and answers dialogs. */
  takeover: Takeover | undefined
  /** The text that it has copied last by keys. */
  copied = ''
  /** Milliseconds since the epoch. */
  lastActivity: number
  status: SessionStatus = 'active'
  /** The reason that the session failed; undefined if it is open, or was closed. */
  failure: string | undefined
  readonly #connection: DevToolsConnection | undefined
  #unwatch: (() => void) | undefined
  #closing: Promise<void> | undefined
  readonly #userAgent: string
  readonly #proxy: ForwardProxy
  readonly #clock: Clock
  readonly #tabs = new Map<Page, Tab>()
  readonly #adoptions = new WeakMap<Page, Promise<Tab | undefined>>()
  #active: Tab | undefined
  #opening: Promise<Tab> | undefined
  readonly #turns = new TurnQueue()

  private constructor(options: Options, context: BrowserContext) {
    const { id, agentId, proxy, clock, userAgent } = options
    this.id = id
    this.agentId = agentId
    this.context = context
    // Only the proxy of a remote browser needs credentials.
    this.isRemote = proxy.credentials !== undefined
    this.#proxy = proxy
    this.#clock = clock
    this.#userAgent = userAgent
    this.lastActivity = clock.now()
    this.#connection = connectionOf(options.browser)
    this.events.setMaxListeners(0)
    this.hidden = new HiddenPages(context)
    context.on('page', async page => (await this.hidden.has(page)) || this.#adopt(page))
    // The browser ended or crashed; a closed session has ended before.
    context.on('close', () => this.end('error', this.#connection?.failure ?? unexpected))
  }

  /** Opens a session with one empty tab. */
  static async open(options: Options): Promise<BrowserSession> {
    const { browser, proxy, viewport, userAgent, storageState, acceptDownloads = true } = options
    await prepareReading()
    const connection = connectionOf(browser)
    const opening = browser.newContext({
      viewport,
      userAgent,
      acceptDownloads: acceptDownloads && proxy.credentials === undefined,
      locale: 'en-US',
      proxy: { server: proxy.address, ...proxy.credentials },
      ...(storageState !== undefined && { storageState }),
    })
    const context = await (connection?.during(opening) ?? opening)
    const session = new BrowserSession(options, context)
    shareClipboard(browser, session)
    try {
      if (session.isRemote) await context.addInitScript(removeUnproxied)
      const tab = session.openTab()
      await (connection?.during(tab) ?? tab)
    } catch (error) {
      await context.close().catch(() => {})
      throw error
    }
    return session
  }

  /** The tabs in the order of their opening. */
  get tabs(): readonly Tab[] {
    return [...this.#tabs.values()]
  }

  /** The default tab for actions; undefined for a moment between two, and after the end. */
  get activeTab(): Tab | undefined {
    return this.#active
  }

  /** Returns the page of the active tab, which is opened if there is none. */
  async page(): Promise<Page> {
    return (await this.tab()).page
  }

  /** Returns the active tab, which is opened if there is none. */
  async tab(): Promise<Tab> {
    if (this.#active !== undefined) return this.#active
    this.#opening ??= this.openTab().finally(() => {
      this.#opening = undefined
    })
    return await this.#opening
  }

  async openTab(): Promise<Tab> {
    const page = await this.context.newPage()
    const tab = await this.#adopt(page)
    if (tab === undefined) throw new Error('The new tab was closed at once.')
    return tab
  }

  activate(tab: Tab): void {
    if (this.#active === tab || !this.#tabs.has(tab.page)) return
    this.#active = tab
    this.events.emit('page.activated', { pageId: tab.pageId })
  }

  /** Closes a tab that no longer answers, and opens an empty one instead. */
  async replaceTab(page: Page): Promise<Tab> {
    await Promise.race([page.close().catch(() => {}), delay(closeMs, undefined, { ref: false })])
    this.#forget(page)
    return await this.openTab()
  }

  /** Runs work in turn, because a page can't be shared. Counts as use of the session. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    this.touch()
    // All work ends with the session, and then fails with the session's failure.
    const turn = this.#turns.run(work).catch(error => {
      throw this.failure === undefined
        ? error
        : new AppError('BROWSER_FAILED', this.failure, { cause: error })
    })
    return turn.finally(() => this.touch())
  }

  /** Postpones the end of an idle session. */
  touch(): void {
    this.lastActivity = this.#clock.now()
  }

  /** Describes a tab for watchers; a page can have an address of megabytes. */
  describe({ pageId, page, title, favicon }: Tab) {
    const url = this.#shown(page.url(), maxAddress)
    return { pageId, url, title: this.#shown(title), favicon: this.#shown(favicon) }
  }

  /** Hides text that a person has typed into any field of the tabs from watchers; never rejects. */
  async readTyped(): Promise<void> {
    this.typed.endTyping()
    const pages = this.tabs.map(({ page }) => page)
    await Promise.all(pages.flatMap(page => [this.secrets.read(page), this.typed.read(page, true)]))
  }

  /** Returns the reason that the guard last refused this address's host; undefined after a success. */
  unreachable(address: string): Unreachable | undefined {
    return this.#proxy.unreachable(URL.parse(address)?.host ?? '')
  }

  /** Reports the end of the session once, with the reason of an error. */
  end(status: 'closed' | 'error', failure?: string): void {
    if (!isOpen(this.status)) return
    this.status = status
    this.failure = failure && `${failure} Open a new session.`
    if (failure !== undefined)
      setTimeout(() => this.#turns.interrupt(new Error(failure)), failsWithinMs).unref()
    this.#active = undefined
    this.#unwatch?.()
    this.events.emit('ended', { status })
  }

  /** Fails the session with a sentence for callers, and closes its pages. Never rejects. */
  async endWith(sentence: string): Promise<void> {
    this.end('error', sentence)
    await this.close()
  }

  /** Closes all tabs and their connections. Never rejects. */
  close(): Promise<void> {
    this.end('closed')
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const closing = this.context.close().catch(() => {})
    const closed = this.#connection?.during(closing) ?? closing
    await Promise.race([closed, delay(closeMs, undefined, { ref: false })])
    await this.#proxy.close()
  }

  /** Adopts each page once; undefined if it was closed meanwhile, or exceeds the limit. */
  #adopt(page: Page): Promise<Tab | undefined> {
    const known = this.#adoptions.get(page)
    if (known !== undefined) return known
    this.#listen(page)
    const adoption = this.#connect(page).catch(() => undefined)
    this.#adoptions.set(page, adoption)
    return adoption
  }

  async #connect(page: Page): Promise<Tab | undefined> {
    if (this.context.pages().length > maxTabs) {
      await page.close()
      return undefined
    }
    const cdp = await this.context.newCDPSession(page)
    const [{ targetInfo }] = await Promise.all([
      cdp.send('Target.getTargetInfo'),
      alignBrands(cdp, this.#userAgent),
    ])
    if (page.isClosed() || !isOpen(this.status)) return undefined
    this.#watch(targetInfo.browserContextId)
    const tab = { pageId: targetInfo.targetId, page, cdp, title: '', favicon: '', hasCrashed: false }
    this.#tabs.set(page, tab)
    this.events.emit('page.opened', { pageId: tab.pageId })
    this.activate(tab)
    return tab
  }

  #watch(contextId = ''): void {
    this.#unwatch ??= this.#connection?.watch(contextId, {
      onExcess: sentence => void this.endWith(sentence),
      onLinesLeftOut: (pageId, lines) => {
        const text = `${lines} more lines were left out.`
        this.events.emit('console', { pageId, level: 'warning', text, timestamp: this.#clock.now() })
      },
    })
  }

  #listen(page: Page): void {
    const pageId = () => this.#tabs.get(page)?.pageId ?? ''
    page.on('dialog', dialog => {
      const message = this.#shown(dialog.message(), maxLine)
      this.events.emit('dialog', { pageId: pageId(), kind: dialog.type(), message })
      // An answered dialog, or one of a closed page, needs no answer. A person answers those of visible tabs.
      const taken = this.#tabs.has(page) ? this.takeover : undefined
      const answered = taken?.answerDialog(pageId(), dialog) ?? this.answerDialog(dialog)
      answered.catch(() => {})
    })
    page.on('download', download =>
      this.events.emit('download', {
        pageId: pageId(),
        url: download.url(),
        fileName: download.suggestedFilename(),
      }),
    )
    page.on('console', message => {
      if (this.events.listenerCount('console') === 0) return
      const text = this.#shown(message.text(), maxLine)
      const timestamp = this.#clock.now()
      this.events.emit('console', { pageId: pageId(), level: message.type(), text, timestamp })
    })
    page.on('framenavigated', frame => {
      if (frame === page.mainFrame()) this.#navigated(page, frame.url())
    })
    page.on('load', () => this.#readFacts(page, true))
    page.on('crash', () => this.#crashed(page))
    page.on('close', () => this.#forget(page))
  }

  /** Returns a page's text for watchers: without secret or hidden text, cut to the max characters. */
  #shown(text: string, characters = text.length): string {
    const masked = this.typed.mask()(this.secrets.mask()(text.slice(0, 2 * characters)))
    return masked.slice(0, characters).toWellFormed()
  }

  /** Facts that a page repeats without loading anything are not reported. */
  #readFacts(page: Page, hasLoaded: boolean): void {
    const report = (facts: Facts) => {
      const tab = this.#tabs.get(page)
      const isSame = facts.title === tab?.title && facts.favicon === tab.favicon
      if (tab === undefined || (isSame && !hasLoaded)) return
      Object.assign(tab, facts)
      this.events.emit('page.navigated', { pageId: tab.pageId, url: page.url(), title: facts.title })
    }
    readFacts(page, factsMs).then(report, () => {})
  }

  #navigated(page: Page, url: string): void {
    const tab = this.#tabs.get(page)
    const pageId = tab?.pageId ?? ''
    if (tab !== undefined) Object.assign(tab, { title: '', favicon: '' })
    // A tab has no address before it has opened one.
    if (url === '' || isOpenable(url) || url.startsWith('chrome-error:')) {
      this.events.emit('page.navigated', { pageId, url, title: '' })
      // An application that only changes its address keeps its title, and loads nothing.
      this.#readFacts(page, false)
      return
    }
    this.events.emit('address.refused', { pageId, url })
    page.goto('about:blank').catch(() => {})
  }

  #crashed(page: Page): void {
    const tab = this.#tabs.get(page)
    if (tab !== undefined) tab.hasCrashed = true
    this.events.emit('page.crashed', { pageId: tab?.pageId ?? '' })
    this.#forget(page)
    page.close().catch(() => {})
    if (this.#tabs.size === 0 && isOpen(this.status)) this.page().catch(() => {})
  }

  #forget(page: Page): void {
    const tab = this.#tabs.get(page)
    if (tab === undefined) return
    this.#tabs.delete(page)
    this.events.emit('page.closed', { pageId: tab.pageId })
    if (this.#active !== tab) return
    this.#active = undefined
    const last = this.tabs.at(-1)
    if (last !== undefined && isOpen(this.status)) this.activate(last)
  }
}

const unexpected = 'The browser of this session ended unexpectedly.'

/** Removes interfaces that bypass the proxy in a browser started with other switches; runs in pages. */
const removeUnproxied =
  'for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) delete globalThis[name]'

async function answerAsUsual(dialog: Dialog): Promise<void> {
  await (dialog.type() === 'alert' ? dialog.accept() : dialog.dismiss())
}
