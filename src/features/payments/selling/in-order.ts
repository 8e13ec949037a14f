/** Runs steps one after another, each once the step before it has ended, however that ended. */
export function createOrder() {
  let steps: Promise<unknown> = Promise.resolve()
  return <Result>(step: () => Promise<Result>): Promise<Result> => {
    const done = steps.then(step)
    steps = done.catch(() => {})
    return done
  }
}
