import { setTimeout as delay } from 'node:timers/promises'

interface Dependencies {
  /** How long a process must have run jobs before it runs suspects, and how long others wait for one at first; milliseconds. */
  calmMs: number
  /** Has every lane look for work. */
  onOpen(): void
}

/**
 * Runs the suspects, which are jobs that processes have died with: one at a time, beside no other job of this process, and
 * after those of the others that are due. So they end neither the jobs beside them nor these them, and it shows which of them
 * is to blame.
 *
 * A suspect that takes long does not stay alone. Where the others never come to an end together, they have as much time as they
 * were kept from beginning, which doubles until it suffices.
 */
export class Isolation {
  readonly #needs: Dependencies
  /** Begins a suspect of a lane of an agent, by these; undefined if it has none any more, else a promise of its end. */
  readonly #waiting = new Map<string, () => Promise<{ ended: Promise<void> } | undefined>>()
  readonly #stopping = new AbortController()
  #startedAt = 0
  /** Jobs that run, and looks that may begin some. */
  #busy = 0
  #onIdle = () => {}
  #reopen = () => {}
  #running: Promise<void> | undefined
  /** Whether jobs that are no suspects may begin. */
  isOpen = true

  constructor(needs: Dependencies) {
    this.#needs = needs
  }

  /** To be called before the first job may begin. */
  start(): void {
    this.#startedAt = performance.now()
  }

  /** To be called before a job begins, or work that may begin one; the result is to be called at its end. */
  enter(): () => void {
    this.#busy += 1
    return () => {
      this.#busy -= 1
      if (this.#busy === 0) this.#onIdle()
    }
  }

  /** Has a suspect begun as soon as it may, unless one of the same agent and lane waits for that already. */
  add(place: string, begin: () => Promise<{ ended: Promise<void> } | undefined>): void {
    if (this.#stopping.signal.aborted) return
    if (!this.#waiting.has(place)) this.#waiting.set(place, begin)
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** The suspect that runs is none any more: others may begin beside it. */
  clear(): void {
    this.#reopen()
  }

  /** Resolves once no suspect runs or waits. */
  async idle(): Promise<void> {
    await this.#running
  }

  stop(): void {
    this.#stopping.abort()
    this.#waiting.clear()
    this.#onIdle()
  }

  async #run(): Promise<void> {
    const { calmMs } = this.#needs
    let turnMs = calmMs
    // A process that is ended every few seconds, for any reason, must not make culprits of them.
    const rest = this.#startedAt + calmMs - performance.now()
    await delay(Math.max(0, rest), undefined, { signal: this.#stopping.signal }).catch(() => {})
    while (this.#waiting.size > 0) {
      await this.#untilIdle(turnMs)
      this.isOpen = false
      if (await this.#untilIdle(turnMs)) {
        await this.#runNext()
        turnMs = calmMs
      } else turnMs *= 2
      this.#open()
    }
  }

  async #runNext(): Promise<void> {
    const [place, begin] = [...this.#waiting][0] ?? []
    if (place === undefined || begin === undefined) return
    this.#waiting.delete(place)
    const begun = await begin()
    if (begun === undefined) return
    const timer = setTimeout(() => this.#open(), 3 * this.#needs.calmMs)
    this.#reopen = () => this.#open()
    await begun.ended
    this.#reopen = () => {}
    clearTimeout(timer)
  }

  #open(): void {
    if (this.isOpen) return
    this.isOpen = true
    this.#needs.onOpen()
  }

  /** False if that takes longer. */
  async #untilIdle(limitMs: number): Promise<boolean> {
    if (this.#busy === 0) return true
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onIdle = resolve
    const timer = setTimeout(resolve, limitMs)
    await promise
    clearTimeout(timer)
    return this.#busy === 0
  }
}
