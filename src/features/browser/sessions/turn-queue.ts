/** Does one thing after the other, until it is interrupted. */
export class TurnQueue {
  #last: Promise<unknown> = Promise.resolve()
  #interrupt: ((error: Error) => void) | undefined
  #interruption: Error | undefined

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(() => this.#untilInterrupted(work))
    this.#last = turn.catch(() => {})
    return turn
  }

  /** Has what is under way, and all that follows, fail with this error. */
  interrupt(error: Error): void {
    this.#interruption = error
    this.#interrupt?.(error)
  }

  async #untilInterrupted<Result>(work: () => Promise<Result>): Promise<Result> {
    // A promise for each turn: one that lasts would keep the results of all that have raced with it.
    const { promise: interrupted, reject } = Promise.withResolvers<never>()
    interrupted.catch(() => {})
    this.#interrupt = reject
    if (this.#interruption !== undefined) reject(this.#interruption)
    return await Promise.race([work(), interrupted])
  }
}
