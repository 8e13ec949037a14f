import { maskJson, maskWithin } from '../secrets/mask.ts'
import type { BrowserSession } from '../sessions/browser-session.ts'
import { listen } from '../sessions/session-events.ts'
import { isOpen } from '../sessions/session-status.ts'
import { TabRecorder } from './tab-recorder.ts'

interface Watcher {
  /** Whether it has got a snapshot, without which the changes that follow mean nothing. */
  hasBegun: boolean
  /** An array of events as JSON. */
  take(events: string): void
}

/** Characters of events that a session may send at once, and in each second for a longer time. */
const maxCharacters = 16_000_000
const charactersEachSecond = 1_000_000
/** How the first event of a snapshot begins. */
const beginsSnapshot = '[{"type":4,'

/**
 * What happens in the active tab of a session as one stream of rrweb events, while anybody wants it: with marks of what the
 * agent does, and without what happens during takeovers.
 */
export class Recorder {
  readonly #session: BrowserSession
  readonly #watchers = new Set<Watcher>()
  readonly #stopListening: () => void
  #recorded: TabRecorder | undefined
  /** When the last takeover began. */
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
      // A page that did not answer before may do so now.
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

  /** Resolves once it records. The first that `take` gets is a snapshot, unless it wants marks before. */
  async watch(take: (events: string) => void, wantsAll = false): Promise<() => void> {
    const watcher = { take, hasBegun: wantsAll }
    this.#watchers.add(watcher)
    if (this.#recorded === undefined) await this.#follow()
    else await this.#recorded.snapshot().catch(() => {})
    return () => {
      if (this.#watchers.delete(watcher) && this.#watchers.size === 0) void this.#follow()
    }
  }

  /** To be called before the tabs are closed, which could not send what they have after that. */
  async finish(): Promise<void> {
    this.#stopListening()
    await this.#turn
    await this.#recorded?.finish()
    await this.#handing
    this.#watchers.clear()
  }

  /** One move after the other. Never rejects: a tab that can't be recorded is tried again when something happens in it. */
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
    const kept = this.#beforeTakeover(events)
    this.#hand(() => maskJson(kept, this.#session.secrets.mask(), false))
  }

  /** What the page still sends when a takeover has begun, without what happened after that. */
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

  /** Pages are on this machine mostly, so that its time is theirs; the service's own clock may be another. */
  #mark(tag: string, payload: object): void {
    const data = { tag, payload: maskWithin(payload, this.#session.secrets.mask()) }
    const events = JSON.stringify([{ type: 5, data, timestamp: Date.now() }])
    this.#hand(async () => events)
  }

  /** In the order in which they came, however long it takes to mask some. */
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
