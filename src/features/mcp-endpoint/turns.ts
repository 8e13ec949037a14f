/** Runs the work of one key in order, each after the end of the one before, with or without an error. */
export type InTurn = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

export function createTurns(): InTurn {
  const lasts = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const result = (lasts.get(key) ?? Promise.resolve()).then(work)
    const ended = result
      .catch(() => {})
      .then(() => {
        if (lasts.get(key) === ended) lasts.delete(key)
      })
    lasts.set(key, ended)
    return result
  }
}
