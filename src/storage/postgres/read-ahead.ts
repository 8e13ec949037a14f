/** Sends what a transaction that only reads asks first along with its beginning: a way to the server and back takes time. */
type Query<Result> = (text: string, parameters: unknown[]) => Promise<Result>

/**
 * @param run runs statements of one connection; several in one text, which have no parameters, give their results as a list.
 * @param first the statement, of no parameters, that such transactions are going to ask.
 */
export function withReadAhead<Result>(
  run: Query<Result | Result[]>,
  first: string,
): Query<Result | Result[]> {
  let known: Result | undefined

  async function begin(text: string): Promise<Result | Result[]> {
    try {
      const results = await run(`${text}; ${first}`, [])
      if (Array.isArray(results)) known = results.at(-1)
      return results
    } catch (error) {
      // The transaction has begun, and whoever wanted it believes that it has not.
      await run('rollback', []).catch(() => {})
      throw error
    }
  }

  return async (text, parameters) => {
    if (text === first && known !== undefined) return known
    if (text === 'commit' || text === 'rollback') known = undefined
    return await (onlyReads.test(text) ? begin(text) : run(text, parameters))
  }
}

/** What such a transaction sees is the same until its end. */
const onlyReads = /^start transaction isolation level repeatable read read only$/
