import { setTimeout as delay } from 'node:timers/promises'

interface Dependencies {
  /** Time of running jobs before suspects run, and the initial wait of others for one (ms). */
  calmMs: number
  /** Makes every lane look for work. */
  onOpen(): void
}

/**
 * Runs the suspects, which are jobs that processes have died with: one at a time, beside no other job of this
 * process, and after other due jobs. So neither ends the other, and the culprit becomes evident.
 *
 * A long suspect does not stay alone. If the others never pause together, they get as much time as the
 * suspect made them wait, which doubles until it suffices.
 */
export class Isolation {
  readonly #dependencies: Dependencies
  /** Functions, by agent and lane, to begin a suspect; undefined without one, else a promise of its end. */
  readonly #waiting = new Map<string, () => Promise<{ ended: Promise<void> } | undefined>>()
  readonly #stopping = new AbortController()
  #startedAt = 0
  /** Number of running jobs, and of looks that can begin some. */
  #busy = 0
  #onIdle = () => {}
  #reopen = () => {}
  #running: Promise<void> | undefined
  /** True if jobs that are no suspects may begin. */
  isOpen = true

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Call it before the first job begins. */
  start(): void {
    this.#startedAt = performance.now()
  }

  /** Call it before a job, or work that can begin one; call the result at its end. */
  enter(): () => void {
    this.#busy += 1
    return () => {
      this.#busy -= 1
      if (this.#busy === 0) this.#onIdle()
    }
  }

  /** Queues a suspect, unless another of the same agent and lane is waiting. */
  add(place: string, begin: () => Promise<{ ended: Promise<void> } | undefined>): void {
    if (this.#stopping.signal.aborted) return
    if (!this.#waiting.has(place)) this.#waiting.set(place, begin)
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Clears the running suspect: others can begin beside it. */
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
    const { calmMs } = this.#dependencies
    let turnMs = calmMs
    // Frequent ends of a process, for any reason, must not make culprits of them.
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
    const timer = setTimeout(() => this.#open(), 3 * this.#dependencies.calmMs)
    this.#reopen = () => this.#open()
    await begun.ended
    this.#reopen = () => {}
    clearTimeout(timer)
  }

  #open(): void {
    if (this.isOpen) return
    this.isOpen = true
    this.#dependencies.onOpen()
  }

  /** Returns false if that takes longer. */
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
