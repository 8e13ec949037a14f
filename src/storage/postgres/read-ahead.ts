/**
 * Fewer ways to the server and back for transactions that only read, as each takes about as long as most of their statements:
 * what the last one asked first goes along with the beginning of the next one, and the end of one, which nobody needs to wait
 * for, too, if that comes at once.
 */
type Query<Result> = (text: string, parameters: unknown[]) => Promise<Result>

/** Statements that go along with the beginning. */
const mostAhead = 3
/** Milliseconds for which a transaction that is over waits for the next one to take its end along. */
const longestOver = 2

/** @param run runs statements of one connection; several in one text, which have no parameters, give their results as a list. */
export function withReadAhead<Result>(run: Query<Result | Result[]>): Query<Result | Result[]> {
  /** What a transaction is going to ask first: statements without parameters. */
  let expected: readonly string[] = []
  let known = new Map<string, Result>()
  /** What this one has asked, as long as that may be sent ahead. */
  let asked: string[] | undefined
  let reading: Result | undefined
  let over: NodeJS.Timeout | undefined

  async function begin(text: string): Promise<Result | Result[]> {
    const before = takeOver() ? ['commit'] : []
    const texts = [...before, text, ...expected]
    try {
      const results = [await run(texts.join('; '), [])].flat() as Result[]
      reading = results[before.length]
      known = new Map(expected.map((one, at) => [one, results[before.length + 1 + at] as Result]))
      asked = []
      return results
    } catch (error) {
      // The transaction has begun, and whoever wanted it believes that it has not.
      const isOver = await run('rollback', []).then(
        () => true,
        () => false,
      )
      // Whatever else a connection that is lost were asked would take as long to fail.
      if (expected.length === 0 || !isOver) throw error
      // The last one was of another agent, which may have other tables.
      expected = []
      return await begin(text)
    }
  }

  /** Whether a transaction is over whose end the server does not know yet, which the caller is to tell it. */
  function takeOver(): boolean {
    const isOver = over !== undefined
    clearTimeout(over)
    over = undefined
    return isOver
  }

  /** What goes wrong here, the next statement tells. */
  function endOver(): void {
    if (takeOver()) run('commit', []).catch(() => {})
  }

  function end(): Result | undefined {
    if (asked !== undefined) expected = asked
    asked = undefined
    const result = reading
    reading = undefined
    known.clear()
    return result
  }

  function note(text: string, parameters: unknown[]): void {
    if (asked === undefined) return
    if (parameters.length === 0 && !asked.includes(text)) asked.push(text)
    if (parameters.length === 0 && asked.length < mostAhead) return
    expected = asked
    asked = undefined
  }

  return async (text, parameters) => {
    if (onlyReads.test(text)) return await begin(text)
    endOver()
    if (text === 'commit' || text === 'rollback') {
      const result = end()
      if (text === 'rollback' || result === undefined) return await run(text, parameters)
      over = setTimeout(endOver, longestOver)
      return result
    }
    note(text, parameters)
    const found = known.get(text)
    if (found !== undefined && parameters.length === 0) return found
    try {
      return await run(text, parameters)
    } catch (error) {
      // What ends with an error is told what became of it.
      reading = undefined
      throw error
    }
  }
}

/** What such a transaction sees is the same until its end. */
const onlyReads = /^start transaction isolation level repeatable read read only$/
