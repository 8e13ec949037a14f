/**
 * Saves round trips in read-only transactions, where each takes about as long as most statements: the statements that
 * the last transaction began with are sent along with the start of the next one; so is the end of the last one, which
 * no caller needs to wait for, if the next one comes at once.
 */
type Query<Result> = (text: string, parameters: unknown[]) => Promise<Result>

/** Max statements sent along with the start. */
const maxAhead = 3
/** Max time that the end of a transaction waits for the next one, to be sent along (ms). */
const maxOver = 2

/** Max statements whose plans a connection keeps. */
const maxPlanned = 100

/** Names statements that the server prepares once, because planning them takes as long as running them. */
function createPlans() {
  const names = new Map<string, string>()
  let count = 0
  /** Names are never reused: after a failure, it is unknown what the server has prepared. */
  function newName(): string {
    count += 1
    return `ahead_${count}`
  }

  return (texts: readonly string[]) => {
    const isFull = names.size >= maxPlanned
    const added = texts.filter(text => !isFull && !names.has(text)).map(text => [text, newName()] as const)
    const all = new Map([...names, ...added])
    return {
      preparing: added.map(([text, name]) => `prepare ${name} as ${text}`),
      executing: texts.map(text => (all.has(text) ? `execute ${all.get(text)}` : text)),
      /** Called when the server has prepared the new statements. */
      keep() {
        for (const [text, name] of added) names.set(text, name)
      },
    }
  }
}

/** @param run runs statements of one connection; several in one text, which have no parameters, give their results as a list. */
export function withReadAhead<Result>(run: Query<Result | Result[]>): Query<Result | Result[]> {
  /** The expected first statements of a transaction: those without parameters. */
  let expected: readonly string[] = []
  let known = new Map<string, Result>()
  /** The first statements of this transaction so far; undefined once they are complete. */
  let sent: string[] | undefined
  let reading: Result | undefined
  let over: NodeJS.Timeout | undefined
  const plan = createPlans()

  async function begin(text: string): Promise<Result | Result[]> {
    const before = claim() ? ['commit'] : []
    const { preparing, executing, keep } = plan(expected)
    try {
      const texts = [...before, text, ...preparing, ...executing]
      const results = [await run(texts.join('; '), [])].flat() as Result[]
      reading = results[before.length]
      keep()
      const answers = results.slice(results.length - expected.length)
      known = new Map(expected.map((one, at) => [one, answers[at] as Result]))
      sent = []
      return results
    } catch (error) {
      // The transaction has begun, but its caller believes that it has not.
      const isOver = await run('rollback', []).then(
        () => true,
        () => false,
      )
      // Any other statement on a lost connection would take just as long to fail.
      if (expected.length === 0 || !isOver) throw error
      // The last transaction belonged to another agent, whose tables can differ.
      expected = []
      return await begin(text)
    }
  }

  /** Returns true if the end of a finished transaction is still unsent; the caller has to send it. */
  function claim(): boolean {
    const isOver = over !== undefined
    clearTimeout(over)
    over = undefined
    return isOver
  }

  /** Sends the end of a finished transaction; the next statement reports a failure. */
  function endOver(): void {
    if (claim()) run('commit', []).catch(() => {})
  }

  function end(): Result | undefined {
    if (sent !== undefined) expected = sent
    sent = undefined
    const result = reading
    reading = undefined
    known.clear()
    return result
  }

  function note(text: string, parameters: unknown[]): void {
    if (sent === undefined) return
    if (parameters.length === 0 && !sent.includes(text)) sent.push(text)
    if (parameters.length === 0 && sent.length < maxAhead) return
    expected = sent
    sent = undefined
  }

  return async (text, parameters) => {
    if (onlyReads.test(text)) return await begin(text)
    endOver()
    if (text === 'commit' || text === 'rollback') {
      const result = end()
      if (text === 'rollback' || result === undefined) return await run(text, parameters)
      over = setTimeout(endOver, maxOver)
      return result
    }
    note(text, parameters)
    const found = known.get(text)
    if (found !== undefined && parameters.length === 0) return found
    try {
      return await run(text, parameters)
    } catch (error) {
      // After an error, the transaction's end is sent at once, and its result awaited.
      reading = undefined
      throw error
    }
  }
}

/** Begins a transaction that sees the same snapshot until its end. */
const onlyReads = /^start transaction isolation level repeatable read read only$/
