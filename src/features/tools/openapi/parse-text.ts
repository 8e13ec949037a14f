import { type Document, isMap, isPair, LineCounter, parseDocument, visit } from 'yaml'
import { decimalOf } from '#platform/decimal.ts'
import { mayBeInexact, parseJson } from '#platform/exact-json.ts'
import { limits } from './limits.ts'

/** `issue` is a sentence for the person who supplied the document. */
export type ParsedText = { ok: true; value: unknown } | { ok: false; issue: string }

/** Parses JSON or YAML 1.2, depending on how the text begins. */
export function parseText(text: string): ParsedText {
  const content = text.replace(/^\uFEFF/, '').trimStart()
  if (content === '') return refusal('The document is empty; give the text of an OpenAPI 3 document.')
  if (content.startsWith('<')) {
    return refusal(
      'This is a web page or XML, not an OpenAPI document; give the address of the JSON or YAML document itself.',
    )
  }
  return /^[{[]/.test(content) ? readJson(content) : parseYaml(content)
}

function readJson(text: string): ParsedText {
  try {
    return { ok: true, value: parseJson(text) }
  } catch (error) {
    return refusal(`The document is not valid JSON (${reasonOf(error)}); correct it and try again.`)
  }
}

/** Parses YAML without custom tags, and with limited aliases: a short text must not expand to a huge document. */
function parseYaml(text: string): ParsedText {
  try {
    const lineCounter = new LineCounter()
    // Formatting errors takes quadratic time in their number.
    const options = {
      schema: 'core',
      merge: true,
      lineCounter,
      prettyErrors: false,
      logLevel: 'error',
    } as const
    const document = parseDocument(text, options)
    const [problem] = document.errors
    if (problem === undefined) {
      keepSpelling(document, mayBeInexact(text))
      return { ok: true, value: document.toJS({ maxAliasCount: limits.aliases }) }
    }
    const { line, col } = lineCounter.linePos(problem.pos[0])
    return notYaml(`${reasonOf(problem)} at line ${line}, column ${col}`)
  } catch (error) {
    return notYaml(reasonOf(error))
  }
}

/** Keeps the value of numbers written as in JSON, and the spelling of those in place of texts, such as `default: 1.0`. */
function keepSpelling(document: Document, mayBeInexact: boolean): void {
  visit(document, {
    Scalar(_key, node, path) {
      const { value, source = '' } = node
      if (typeof value === 'string' || value === null) return
      if (isPlaceOfText(path)) node.value = source
      else if (mayBeInexact && typeof value === 'number' && /^-?\d/.test(source) && decimalOf(source))
        node.value = parseJson(source)
    },
  })
}

/** True for the document's version, a value in a schema of texts, or one of a server's variable. */
function isPlaceOfText(path: readonly unknown[]): boolean {
  const keys = path
    .filter(isPair)
    .slice(-4)
    .map(({ key }) => String(key))
  const keyword = keys.at(-1) ?? ''
  if (keys.length === 1 && keyword === 'openapi') return true
  if (!['default', 'enum', 'const', 'example', 'examples'].includes(keyword)) return false
  return keys.join().startsWith('servers,variables,') || path.findLast(isMap)?.get('type') === 'string'
}

function notYaml(reason: string): ParsedText {
  return refusal(`The document is not valid YAML (${reason}); correct it and try again.`)
}

/** Returns the first line of the parser's message. */
function reasonOf(error: unknown): string {
  const [line = ''] = error instanceof Error ? error.message.split('\n') : []
  if (error instanceof RangeError || /call stack/.test(line)) return 'it is nested too deeply'
  return line.slice(0, 200).toWellFormed() || 'it can not be read'
}

function refusal(issue: string): ParsedText {
  return { ok: false, issue }
}
