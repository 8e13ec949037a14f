/** Runs work in order, until it is interrupted. */
export class TurnQueue {
  #last: Promise<unknown> = Promise.resolve()
  #interrupt: ((error: Error) => void) | undefined
  #interruption: Error | undefined

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(() => this.#untilInterrupted(work))
    this.#last = turn.catch(() => {})
    return turn
  }

  /** Fails the running and all later work with this error. */
  interrupt(error: Error): void {
    this.#interruption = error
    this.#interrupt?.(error)
  }

  async #untilInterrupted<Result>(work: () => Promise<Result>): Promise<Result> {
    // Each turn gets its own promise: a permanent one would retain the results of all work raced with it.
    const { promise: interrupted, reject } = Promise.withResolvers<never>()
    interrupted.catch(() => {})
    this.#interrupt = reject
    if (this.#interruption !== undefined) reject(this.#interruption)
    return await Promise.race([work(), interrupted])
  }
}
