import type { BrowserSession, Tab } from '../sessions/browser-session.ts'
import { listen } from '../sessions/session-events.ts'
import type { Picker, Takeover } from '../sessions/takeover.ts'
import { type Takeovers, timeOf } from '../takeovers/takeovers.service.ts'
import type { Viewer } from './admission.ts'
import type { Connection } from './connection.ts'
import { type Input, type InputOf, readInput } from './input.schema.ts'
import { performInput, selectedText } from './perform-input.ts'
import { pick } from './picker-input.ts'
import type { ScreencastOf } from './screencast.ts'

export interface CastOptions {
  session: BrowserSession
  viewer: Viewer
  connection: Connection
  /** The only tab that the client shows; undefined for the active tab. */
  pinned: Tab | undefined
  /** True if the client wants no pictures. */
  isWithoutFrames: boolean
}

interface Dependencies {
  takeovers: Takeovers
  screencastOf: ScreencastOf
}

/** Shows a session to one client, which drives if permitted, until one of the two ends. */
export function openCast(options: CastOptions, dependencies: Dependencies): void {
  const { session, connection } = options
  const cast = new Cast(options, dependencies)
  const unlisten = listen(session.events, {
    'page.opened': () => cast.listTabs(),
    'page.closed': ({ pageId }) => cast.tabClosed(pageId),
    'page.navigated': ({ pageId }) => cast.tabChanged(pageId),
    'page.activated': ({ pageId }) => cast.tabActivated(pageId),
    'takeover.began': () => cast.sendStatus(),
    'takeover.changed': () => cast.sendStatus(),
    'takeover.ended': () => cast.sendStatus(),
    ended: () => cast.end(),
  })
  connection.onMessage(message => cast.take(message))
  connection.onClose(() => {
    unlisten()
    cast.close()
  })
  cast.begin()
}

class Cast {
  readonly #session: BrowserSession
  readonly #viewer: Viewer
  readonly #connection: Connection
  readonly #pinned: Tab | undefined
  readonly #isWithoutFrames: boolean
  readonly #takeovers: Takeovers
  readonly #screencastOf: ScreencastOf
  #leaveScreencast: () => void = () => {}
  /** The takeover in which this client drives, and a function that ends its driving. */
  #seat: { takeover: Takeover; leave: () => void } | undefined
  /** True if the client last got the content of the tabs. */
  #isShown = true
  #picker: Picker | undefined
  /** Dialogs that the client knows. */
  #dialogs: ReadonlySet<string> = new Set()

  constructor(options: CastOptions, { takeovers, screencastOf }: Dependencies) {
    this.#session = options.session
    this.#viewer = options.viewer
    this.#connection = options.connection
    this.#pinned = options.pinned
    this.#isWithoutFrames = options.isWithoutFrames
    this.#takeovers = takeovers
    this.#screencastOf = screencastOf
  }

  begin(): void {
    const { takeover } = this.#session
    // A person who opens the link drives; others with the right might only watch.
    if (takeover !== undefined && (this.#viewer.isInvited || takeover.isDrivenBy(this.#viewer)))
      this.#isDriving(true)
    this.listTabs()
    this.sendStatus()
    this.#watch(this.#pinned ?? this.#session.activeTab)
  }

  listTabs(): void {
    this.#isShown = this.#maySee()
    if (this.#pinned !== undefined) return
    const tabs = this.#session.tabs.map(tab => ({ id: tab.pageId, ...this.#describe(tab) }))
    this.#connection.send({ type: 'tabList', tabs, firstTabId: tabs[0]?.pageId ?? null })
  }

  tabChanged(pageId: string): void {
    this.listTabs()
    this.#screencast()?.refresh()
    if (this.#pinned?.pageId === pageId)
      this.#connection.send({ type: 'tabUpdate', ...this.#describe(this.#pinned) })
  }

  tabActivated(pageId: string): void {
    if (this.#pinned !== undefined) return
    this.#connection.send({ type: 'activeTabChange', pageId })
    this.#watch(this.#session.activeTab)
    this.#sendPicker(this.#session.takeover)
  }

  tabClosed(pageId: string): void {
    if (this.#pinned !== undefined && this.#pinned.pageId !== pageId) return
    this.#connection.send({ type: 'tabClosed', pageId })
    this.#sendDialogs(this.#session.takeover)
    this.listTabs()
    if (this.#pinned === undefined) return
    this.#connection.send({ type: 'targetClosed', pageId })
    this.#connection.close(1000, 'The tab was closed.')
  }

  sendStatus(): void {
    const { takeover, status } = this.#session
    const viewer = this.#viewer
    this.#connection.send({
      type: 'status',
      status,
      may_drive: viewer.mayDrive(),
      takeover: takeover === undefined ? null : describeTakeover(takeover, takeover.isDrivenBy(viewer)),
    })
    this.#sendDialogs(takeover)
    this.#sendPicker(takeover)
    if (this.#isShown !== this.#maySee()) this.listTabs()
    if (takeover === undefined) this.#leaveSeat()
    this.#screencast()?.refresh()
  }

  end(): void {
    this.sendStatus()
    this.#connection.close(1000, 'The session has ended.')
  }

  close(): void {
    this.#leaveScreencast()
    this.#leaveSeat()
  }

  /** Returns false for an unusable message. */
  take(message: Record<string, unknown>): boolean {
    const input = readInput(message)
    if (input === undefined) return false
    return this.#viewer.mayDrive() && this.#isDriving() ? this.#perform(input) : true
  }

  /** Returns true if no other person drives; in a takeover, the first who claims the wheel keeps it. */
  #isDriving(isOpening = false): boolean {
    const { takeover } = this.#session
    if (takeover === undefined) return true
    if (!takeover.claim(this.#viewer, isOpening)) return false
    if (this.#seat?.takeover !== takeover) {
      this.#leaveSeat()
      this.#seat = { takeover, leave: takeover.connect(this.#viewer) }
    }
    return true
  }

  #perform(input: Input): boolean {
    const session = this.#session
    const { takeover } = session
    const tab = this.#tabOf('pageId' in input ? input.pageId : undefined)
    switch (input.type) {
      case 'getSelectedText':
        if (tab !== undefined) void this.#sendSelection(tab)
        return tab !== undefined
      case 'dialogAnswer':
        if (tab !== undefined) takeover?.answer(tab.pageId, input.accept, input.text).catch(() => {})
        return tab !== undefined
      case 'pick':
      case 'pickFile':
        return this.#pick(input)
      case 'hide':
        // Typed text becomes known before anyone else can see the tabs again.
        void takeover?.hide(input.hidden, () => session.readTyped())
        return true
      case 'extend':
        this.#takeovers.extend(session, input.seconds)
        return true
      case 'handBack':
        if (takeover !== undefined) void this.#takeovers.handBack(session, input.note).catch(() => {})
        return true
      default:
        return performInput(session, tab, input)
    }
  }

  #pick(input: InputOf<'pick'> | InputOf<'pickFile'>): boolean {
    const { takeover } = this.#session
    // A picker that was closed meanwhile makes no choice.
    if (takeover?.picker?.shown.picker !== input.picker) return takeover !== undefined
    if (input.type === 'pickFile') return takeover.picker.take(input)
    pick(takeover, input)
    return true
  }

  /** Returns undefined for an unknown tab. */
  #tabOf(pageId: string | undefined): Tab | undefined {
    if (pageId === undefined) return this.#pinned ?? this.#session.activeTab
    return this.#session.tabs.find(tab => tab.pageId === pageId)
  }

  async #sendSelection(tab: Tab): Promise<void> {
    const { pageId } = tab
    this.#connection.send({
      type: 'selectedTextResponse',
      pageId,
      text: await selectedText(this.#session, tab),
    })
  }

  /** A page with an open dialog shows nothing else until the dialog is answered. */
  #sendDialogs(takeover: Takeover | undefined): void {
    const waiting = takeover?.isDrivenBy(this.#viewer) ? takeover.dialogs : []
    const now = new Set(waiting.map(({ pageId }) => pageId))
    for (const dialog of waiting)
      if (!this.#dialogs.has(dialog.pageId)) this.#connection.send({ type: 'dialog', ...dialog })
    for (const pageId of this.#dialogs)
      if (!now.has(pageId)) this.#connection.send({ type: 'dialogClosed', pageId })
    this.#dialogs = now
  }

  #sendPicker(takeover: Takeover | undefined): void {
    const offered = takeover?.isDrivenBy(this.#viewer) ? takeover.picker : undefined
    // A picker of another tab would seem to belong to the shown tab.
    const picker = offered?.shown.pageId === this.#tabOf(undefined)?.pageId ? offered : undefined
    if (picker === this.#picker) return
    this.#picker = picker
    this.#connection.send(
      picker === undefined ? { type: 'pickerClosed' } : { type: 'picker', ...picker.shown },
    )
  }

  #maySee(): boolean {
    return this.#session.takeover?.isVisibleTo(this.#viewer) ?? true
  }

  /** Hides title and address, too, because they can contain typed text. */
  #describe(tab: Tab) {
    return this.#maySee()
      ? this.#session.describe(tab)
      : { pageId: tab.pageId, url: '', title: '', favicon: '' }
  }

  #screencast() {
    const tab = this.#pinned ?? this.#session.activeTab
    return tab && this.#screencastOf(tab, () => this.#session.describe(tab))
  }

  #watch(tab: Tab | undefined): void {
    this.#leaveScreencast()
    this.#leaveScreencast = () => {}
    if (tab === undefined || this.#isWithoutFrames) return
    this.#leaveScreencast = this.#screencastOf(tab, () => this.#session.describe(tab)).add({
      send: (frame, sent) => this.#connection.sendText(frame, sent),
      maySee: () => this.#maySee(),
    })
  }

  #leaveSeat(): void {
    this.#seat?.leave()
    this.#seat = undefined
  }
}

function describeTakeover(takeover: Takeover, isDriver: boolean) {
  return {
    takeover_id: takeover.id,
    reason: takeover.reason,
    expires_at: timeOf(takeover.expiresAt),
    hidden: takeover.isHidden,
    driver: takeover.driver?.name ?? null,
    is_driver: isDriver,
  }
}
