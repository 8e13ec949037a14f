import { maskJson, maskWithin } from '../secrets/mask.ts'
import type { BrowserSession } from '../sessions/browser-session.ts'
import { listen } from '../sessions/session-events.ts'
import { isOpen } from '../sessions/session-status.ts'
import { TabRecorder } from './tab-recorder.ts'

interface Watcher {
  /** True after the first snapshot; later changes need it. */
  hasBegun: boolean
  /** Takes an array of events as JSON. */
  take(events: string): void
}

/** Max characters of a session's events at once, and per second over a longer time. */
const maxCharacters = 16_000_000
const charactersEachSecond = 1_000_000
/** The beginning of a snapshot's first event. */
const beginsSnapshot = '[{"type":4,'

/**
 * Records the active tab of a session as one stream of rrweb events while anyone watches, with marks of the
 * agent's actions, and without events during takeovers.
 */
export class Recorder {
  readonly #session: BrowserSession
  readonly #watchers = new Set<Watcher>()
  readonly #stopListening: () => void
  #recorded: TabRecorder | undefined
  /** Beginning of the last takeover. */
  #pausedAt = 0
  #turn: Promise<void> = Promise.resolve()
  #handing: Promise<void> = Promise.resolve()
  #allowance = { characters: maxCharacters, at: performance.now() }

  constructor(session: BrowserSession) {
    this.#session = session
    const follow = () => void this.#follow()
    this.#stopListening = listen(session.events, {
      'page.activated': follow,
      'page.closed': follow,
      // A page that did not answer before might answer now.
      'page.navigated': follow,
      'action.began': action => this.#mark('action', action),
      'takeover.began': ({ takeoverId, reason }) => {
        this.#pausedAt = Date.now()
        this.#mark('takeover', { state: 'began', takeover_id: takeoverId, reason })
        follow()
      },
      'takeover.ended': ({ takeoverId, ...ending }) => {
        this.#mark('takeover', { state: 'ended', takeover_id: takeoverId, ...ending })
        follow()
      },
    })
  }

  /** Resolves once recording has begun. `take` first gets a snapshot, or marks with `wantsAll`. */
  async watch(take: (events: string) => void, wantsAll = false): Promise<() => void> {
    const watcher = { take, hasBegun: wantsAll }
    this.#watchers.add(watcher)
    if (this.#recorded === undefined) await this.#follow()
    else await this.#recorded.snapshot().catch(() => {})
    return () => {
      if (this.#watchers.delete(watcher) && this.#watchers.size === 0) void this.#follow()
    }
  }

  /** Must be called before the tabs are closed, which ends their sending. */
  async finish(): Promise<void> {
    this.#stopListening()
    await this.#turn
    await this.#recorded?.finish()
    await this.#handing
    this.#watchers.clear()
  }

  /** Moves to the active tab, in turn. Never rejects: a tab that fails is retried at its next event. */
  #follow(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#move()).catch(() => {})
    return this.#turn
  }

  async #move(): Promise<void> {
    const { status, activeTab } = this.#session
    const isWanted = this.#watchers.size > 0 && isOpen(status) && status !== 'takeover'
    const wanted = isWanted ? activeTab : undefined
    if (wanted === this.#recorded?.tab) return
    await this.#recorded?.finish()
    this.#recorded = undefined
    if (wanted === undefined) return
    const recorder = new TabRecorder(wanted, events => this.#receive(events))
    this.#recorded = recorder
    await recorder.start().catch(async () => {
      this.#recorded = undefined
      await recorder.finish()
    })
  }

  #receive(events: string): void {
    if (!events.startsWith('[{"type":') || !events.endsWith('}]')) return
    if (!this.#mayTake(events.length)) {
      this.#giveUp()
      return
    }
    const keptEvents = this.#beforeTakeover(events)
    this.#hand(() => maskJson(keptEvents, this.#session.secrets.mask(), false))
  }

  /** Removes events after the beginning of a takeover, which the page can still send. */
  #beforeTakeover(events: string): string {
    if (this.#session.status !== 'takeover') return events
    const all = JSON.parse(events) as { timestamp: number }[]
    return JSON.stringify(all.filter(({ timestamp }) => timestamp <= this.#pausedAt))
  }

  #mayTake(characters: number): boolean {
    const now = performance.now()
    const since = ((now - this.#allowance.at) / 1000) * charactersEachSecond
    const left = Math.min(maxCharacters, this.#allowance.characters + since) - characters
    this.#allowance = { characters: left, at: now }
    return left >= 0
  }

  #giveUp(): void {
    this.#mark('recording_stopped', { reason: 'The pages of this session change too much.' })
    void this.#handing.then(() => {
      this.#watchers.clear()
      void this.#follow()
    })
  }

  /** Uses the machine's time like pages, which mostly run here; the service's own clock can differ. */
  #mark(tag: string, payload: object): void {
    const data = { tag, payload: maskWithin(payload, this.#session.secrets.mask()) }
    const events = JSON.stringify([{ type: 5, data, timestamp: Date.now() }])
    this.#hand(async () => events)
  }

  /** Masks events, and passes them on in their original order. */
  #hand(mask: () => Promise<string>): void {
    this.#handing = this.#handing.then(mask).then(events => this.#give(events))
  }

  #give(events: string): void {
    if (events === '[]') return
    const isSnapshot = events.startsWith(beginsSnapshot)
    for (const watcher of this.#watchers) {
      watcher.hasBegun ||= isSnapshot
      if (watcher.hasBegun) watcher.take(events)
    }
  }
}
