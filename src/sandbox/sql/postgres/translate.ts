import { mayWrite, type Statement } from '../statement.ts'

/** Returns the statement in PostgreSQL's form: `$1` and so on for `?`, and EXPLAIN without QUERY PLAN. */
export function translate(query: string, statement: Statement): { text: string; onlyReads: boolean } {
  const { kind, tokens } = statement
  let text = ''
  let number = 0
  let copied = tokens[0]?.start ?? 0
  for (const [index, token] of tokens.entries()) {
    const isPlan =
      kind === 'explain' && (index === 1 || index === 2) && ['query', 'plan'].includes(token.text)
    if (token.kind !== 'parameter' && !isPlan) continue
    text += query.slice(copied, token.start)
    // Spaces around it keep adjacent letters or digits separate.
    if (!isPlan) text += ` $${++number} `
    copied = token.end
  }
  text += query.slice(copied, tokens.at(-1)?.end)
  return { text, onlyReads: !mayWrite(statement) }
}
