/** Splits SQL into tokens, as far as needed to distinguish statements, parameters and functions from text. */

export type Dialect = 'sqlite' | 'postgres'

export interface Token {
  /**
   * `word` is a keyword or an unquoted name, in lower case; `name` a quoted one; `number` digits; `parameter` a
   * placeholder for a value; `symbol` any other single character.
   */
  kind: 'word' | 'name' | 'text' | 'number' | 'parameter' | 'symbol'
  text: string
  start: number
  end: number
}

type Rule = [kind: Token['kind'] | 'blank', pattern: RegExp]

const word: Rule = ['word', /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y]
const digits: Rule = ['number', /\d+/y]
const plainText: Rule = ['text', /(?:[xbn]|u&)?'[^']*(?:''[^']*)*(?:'|$)/iy]
const symbol: Rule = ['symbol', /[\s\S]/y]

/** The first match counts. A token without an end extends to the end of the text, so no text is scanned more than once. */
const rules: Record<Dialect, Rule[]> = {
  sqlite: [
    ['blank', /[ \t\n\f\r]+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y],
    ['text', /x?'[^']*(?:''[^']*)*(?:'|$)/iy],
    ['name', /"[^"]*(?:""[^"]*)*(?:"|$)|`[^`]*(?:``[^`]*)*(?:`|$)|\[[^\]]*(?:\]|$)/y],
    ['parameter', /\?\d*|[:@$#][\w$\u0080-\uffff]+/y],
    word,
    digits,
    symbol,
  ],
  postgres: [
    ['blank', /[ \t\n\f\r\v]+|--[^\n\r]*/y],
    ['text', /e'[^'\\]*(?:(?:''|\\[\s\S])[^'\\]*)*(?:'|$)/iy],
    plainText,
    ['text', /\$([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$[\s\S]*?(?:\$\1\$|$)/y],
    ['name', /(?:u&)?"[^"]*(?:""[^"]*)*(?:"|$)/iy],
    ['parameter', /\?\d*|\$\d+/y],
    word,
    digits,
    symbol,
  ],
}

/** @param most the max number of tokens: it stops after one more. */
export function tokensOf(sql: string, dialect: Dialect, most = Number.POSITIVE_INFINITY): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < sql.length && tokens.length <= most; ) {
    const [kind, end] = nextToken(sql, at, dialect)
    if (kind !== 'blank') tokens.push({ kind, text: textOf(kind, sql.slice(at, end)), start: at, end })
    at = end
  }
  return tokens
}

function nextToken(sql: string, at: number, dialect: Dialect): [kind: Rule[0], end: number] {
  if (dialect === 'postgres' && sql.startsWith('/*', at)) return ['blank', endOfNestedComment(sql, at)]
  for (const [kind, pattern] of rules[dialect]) {
    pattern.lastIndex = at
    if (pattern.test(sql)) return [kind, pattern.lastIndex]
  }
  throw new Error('every character is at least a symbol')
}

/** Returns a comment's end, which PostgreSQL nests; one without an end extends to the end of the text. */
function endOfNestedComment(sql: string, at: number): number {
  const marks = /\/\*|\*\//g
  marks.lastIndex = at
  let depth = 0
  for (let mark = marks.exec(sql); mark !== null; mark = marks.exec(sql)) {
    depth += mark[0] === '/*' ? 1 : -1
    if (depth === 0) return marks.lastIndex
  }
  return sql.length
}

function textOf(kind: Token['kind'], source: string): string {
  if (kind === 'word') return source.toLowerCase()
  if (kind !== 'name' || /^u&/i.test(source)) return source
  const [quote = ''] = source
  return source.slice(1, -1).replaceAll(quote + quote, quote)
}
