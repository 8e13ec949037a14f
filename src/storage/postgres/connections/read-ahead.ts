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

/** Statements that a connection keeps the plans of. */
const mostPlanned = 100

/** Words for statements that the server plans once, as planning them takes as long as running them. */
function createPlans() {
  const names = new Map<string, string>()
  let count = 0
  /** Never twice, since of what failed it is not known what the server has prepared. */
  function newName(): string {
    count += 1
    return `ahead_${count}`
  }

  return (texts: readonly string[]) => {
    const isFull = names.size >= mostPlanned
    const added = texts.filter(text => !isFull && !names.has(text)).map(text => [text, newName()] as const)
    const all = new Map([...names, ...added])
    return {
      preparing: added.map(([text, name]) => `prepare ${name} as ${text}`),
      executing: texts.map(text => (all.has(text) ? `execute ${all.get(text)}` : text)),
      /** To be called when the server has prepared them. */
      keep() {
        for (const [text, name] of added) names.set(text, name)
      },
    }
  }
}

/** @param run runs statements of one connection; several in one text, which have no parameters, give their results as a list. */
export function withReadAhead<Result>(run: Query<Result | Result[]>): Query<Result | Result[]> {
  /** What a transaction is going to ask first: statements without parameters. */
  let expected: readonly string[] = []
  let known = new Map<string, Result>()
  /** What this one has asked, as long as that may be sent ahead. */
  let asked: string[] | undefined
  let reading: Result | undefined
  let over: NodeJS.Timeout | undefined
  const plan = createPlans()

  async function begin(text: string): Promise<Result | Result[]> {
    const before = takeOver() ? ['commit'] : []
    const { preparing, executing, keep } = plan(expected)
    try {
      const texts = [...before, text, ...preparing, ...executing]
      const results = [await run(texts.join('; '), [])].flat() as Result[]
      reading = results[before.length]
      keep()
      const answers = results.slice(results.length - expected.length)
      known = new Map(expected.map((one, at) => [one, answers[at] as Result]))
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
