/** Classifies a statement before an engine sees it, so that all engines give the same answers. */
import { isForbiddenFunction, refusedFunction } from './forbidden-functions.ts'
import { maxLength, maxNesting, maxTokens } from './limits.ts'
import type { Problem } from './problem.ts'
import type { SqlStatement } from './sql-runner.ts'
import { type Dialect, type Token, tokensOf } from './tokens.ts'

const allowedKinds = [
  'select',
  'values',
  'with',
  'insert',
  'replace',
  'update',
  'delete',
  'pragma',
  'explain',
] as const
type StatementKind = (typeof allowedKinds)[number]

/** Kinds that an engine knows but that are refused; any other first word is a mistake. */
const forbiddenKinds = new Set(
  `abort alter analyze attach begin call checkpoint close cluster comment commit copy create deallocate declare detach
  discard do drop end execute fetch grant import listen load lock merge move notify prepare reassign refresh reindex
  release reset revoke rollback savepoint security set show start table truncate unlisten vacuum`.split(
    /\s+/,
  ),
)

export interface Statement {
  kind: StatementKind
  /** The tokens of this one statement, without a semicolon. */
  tokens: Token[]
  parameters: Token[]
}

/** Reads a statement. Never throws: problems are returned. */
export function readStatement(query: string, dialect: Dialect, onlySelect = false): Statement | Problem {
  if (query.length > maxLength) return invalid(`must have at most ${maxLength} characters`)
  const all = tokensOf(query, dialect, maxTokens)
  if (all.length > maxTokens) return invalid(`must have at most ${maxTokens} words, signs and values`)
  const first = all.findIndex(({ text }) => text !== ';')
  const begun = first < 0 ? [] : all.slice(first)
  const end = begun.findIndex(isSemicolon)
  const tokens = end < 0 ? begun : begun.slice(0, end)
  const kind = kindOf(tokens)
  if (onlySelect && isOtherStatement(kind, tokens)) return mustBeSelect(tokens)
  if (typeof kind === 'object') return kind
  if (end >= 0 && begun.slice(end).some(token => !isSemicolon(token)))
    return invalid('holds several statements; send one at a time')
  const parameters = tokens.filter(token => token.kind === 'parameter')
  return problemIn(tokens, dialect) ?? { kind, tokens, parameters }
}

function isSemicolon({ kind, text }: Token): boolean {
  return kind === 'symbol' && text === ';'
}

/** Returns true for a statement that does more than read rows. */
function isOtherStatement(kind: StatementKind | Problem, [first]: readonly Token[]): boolean {
  if (typeof kind === 'object') return first?.kind === 'word' && forbiddenKinds.has(first.text)
  return kind !== 'select' && kind !== 'with'
}

function mustBeSelect([first]: readonly Token[]): Problem {
  return invalid(`must be a SELECT statement; it begins with ${first?.text.toUpperCase()}`)
}

function kindOf(tokens: readonly Token[]): StatementKind | Problem {
  const [first] = tokens
  if (first === undefined) return invalid('holds no statement')
  const kind = allowedKinds.find(allowed => first.kind === 'word' && allowed === first.text)
  if (kind === undefined) return unknownKind(first)
  const explained = kind === 'explain' ? explainedToken(tokens) : undefined
  return explained === undefined ? kind : (problemOfExplained(explained) ?? kind)
}

/** Explaining changes nothing: an unexplainable statement is a mistake, even if running it is forbidden. */
function problemOfExplained(first: Token): Problem | undefined {
  const kind = kindOf([first])
  if (typeof kind === 'object' && kind.kind === 'invalid') return kind
  const hasPlan = typeof kind === 'string' && kind !== 'explain' && kind !== 'pragma'
  return hasPlan ? undefined : invalid(`explains ${first.text.toUpperCase()}, which has no plan`)
}

function unknownKind({ kind, text }: Token): Problem {
  if (kind !== 'word' || !forbiddenKinds.has(text))
    return invalid(`is no statement: it begins with ${JSON.stringify(text.slice(0, 40))}`)
  return {
    kind: 'forbidden',
    message: `${text.toUpperCase()} statements are not allowed here. Allowed are SELECT, INSERT, UPDATE, DELETE, PRAGMA and EXPLAIN.`,
  }
}

const explainWords = new Set(['query', 'plan', 'analyze', 'verbose'])

/** Returns the first word of the explained statement, after the options of EXPLAIN. */
export function explainedToken(tokens: readonly Token[]): Token | undefined {
  const close = tokens[1]?.text === '(' ? tokens.findIndex(({ text }) => text === ')') : 0
  return tokens.find(
    (token, index) => index > close && !(token.kind === 'word' && explainWords.has(token.text)),
  )
}

function problemIn(tokens: readonly Token[], dialect: Dialect): Problem | undefined {
  let depth = 0
  for (const [index, token] of tokens.entries()) {
    depth += nestingOf(token)
    if (depth > maxNesting) return invalid(`is nested too deeply: at most ${maxNesting} brackets may be open`)
    const problem =
      problemAt(token, tokens[index + 1]) ??
      (dialect === 'postgres' ? postgresProblem(tokens, index) : undefined)
    if (problem !== undefined) return problem
  }
  return undefined
}

function nestingOf({ kind, text }: Token): number {
  if (kind !== 'symbol') return 0
  return text === '(' ? 1 : text === ')' ? -1 : 0
}

function problemAt({ kind, text }: Token, next: Token | undefined): Problem | undefined {
  if (kind === 'parameter' && text !== '?')
    return invalid(`names the parameter ${text.slice(0, 40)}; write ? for each parameter`)
  const isCall = (kind === 'word' || kind === 'name') && next?.text === '('
  if (!isCall || !isForbiddenFunction(text)) return undefined
  return { kind: 'forbidden', message: refusedFunction(text) }
}

/** Finds forms in which a statement of an allowed kind could be another one, or differ from its look. */
function postgresProblem(tokens: readonly Token[], index: number): Problem | undefined {
  const [token, next] = tokens.slice(index, index + 2)
  if (token === undefined) return undefined
  // PostgreSQL calls a function of one argument also in the form of a field: `(1).pg_advisory_lock`.
  if (tokens[index - 1]?.text === '.' && isForbiddenFunction(token.text))
    return { kind: 'forbidden', message: refusedFunction(token.text) }
  if (token.kind === 'name' && /^u&/i.test(token.text))
    return invalid('holds a name with U&; write its letters themselves')
  if (token.kind === 'text' && /^e/i.test(token.text) && next?.kind === 'text' && next.text.startsWith("'"))
    return invalid('holds a text in several pieces; write it as one')
  if (token.kind !== 'word' || token.text !== 'into' || tokens[index - 1]?.text === 'insert') return undefined
  // SQLite's REPLACE INTO and INSERT OR … INTO, which PostgreSQL itself refuses.
  if (index <= 3 && (tokens[0]?.text === 'replace' || tokens[0]?.text === 'insert')) return undefined
  return { kind: 'forbidden', message: 'INTO is allowed after INSERT alone: tables are not made here.' }
}

/** Words of changing statements, at any place. */
const changing = new Set(['insert', 'update', 'delete', 'merge', 'replace'])

/** Returns true if the statement contains such a word, even as the name of a function. */
export function mayWrite({ tokens }: Statement): boolean {
  return tokens.some(({ kind, text }) => kind === 'word' && changing.has(text))
}

/** @returns the problem of running the statement in this way, if any. */
export function usageProblem(
  { parameters }: Statement,
  { onlySelect = false, parameters: values }: Pick<SqlStatement, 'onlySelect' | 'parameters'>,
): Problem | undefined {
  if (parameters.length === values.length) return undefined
  if (onlySelect) return invalid('has a ?, for which no value can be given here; write the value itself')
  return invalid(`has ${parameters.length} parameters, but params has ${values.length} values`)
}

function invalid(issue: string): Problem {
  return { kind: 'invalid', message: issue }
}
