import { invalid } from '../errors.ts'
import { turn } from '../event-loop/turns.ts'

type Write = (value: unknown) => string

/** The values that templates read: named roots; paths without a named root are read from `input`. */
export interface TemplateScope {
  readonly input: unknown
  readonly [root: string]: unknown
}

/**
 * Replaces `{{dotted.paths}}` by values, in turns of the event loop. Nothing is evaluated, and inserted
 * values are not searched again.
 */
export interface Templates {
  /** Resolves all texts of a JSON value. A text that is one template becomes the value, or null. */
  resolve(value: unknown): Promise<unknown>
  /**
   * Resolves a text to a text.
   * @param write returns the inserted text of a value; defaults to the text itself, or JSON of an object.
   * @param keep returns the text around it; defaults to that text itself.
   */
  fill(text: string, write?: Write, keep?: (text: string) => string): Promise<string>
  /** Resolves a text of JSON: values are escaped within its strings, and JSON elsewhere. The rest stays. */
  fillJson(text: string): Promise<string>
  /** Returns a line for each path that led to nothing so far. */
  warnings(): string[]
}

const name = String.raw`[\p{L}\p{M}\p{N}_$-]+`
/** A number, or a key in quotes, which are escaped if the text around is JSON. */
const bracket = String.raw`\[(?:\d{1,9}|"[^"\\{}]{1,200}"|\\"[^"\\{}]{1,200}\\"|'[^'\\{}]{1,200}')\]`
const path = String.raw`(?:${name}|${bracket})(?:\.${name}|${bracket})*`
/** Groups: the braces, and the path if they enclose one. */
const everyTemplate = new RegExp(String.raw`(\{{2,})(?:\s*(${path})\s*\}\})?`, 'gu')
const wholeTemplate = new RegExp(String.raw`^\{\{\s*(${path})\s*\}\}$`, 'u')
const everyName = new RegExp(String.raw`(${name})|\\?(["'])(.+?)\\?\2\]`, 'gu')

/** Max characters of all inserted values: one value can be in many places. */
const maxInserted = 4_000_000

/** Creates templates, which throw VALIDATION_ERROR if more is inserted than any reader could use. */
export function createTemplates(scope: TemplateScope): Templates {
  const missing = new Set<string>()
  let inserted = 0

  function read(path: string): unknown {
    const value = valueAt(path, scope) ?? null
    if (value === null) missing.add(path)
    inserted += lengthOf(value)
    if (inserted > maxInserted)
      throw invalid(`{{${path}}}`, `is too long: at most ${maxInserted} characters are put in`)
    return value
  }

  async function fill(text: string, write: Write = textOf, keep = same): Promise<string> {
    return await fillPieces(piecesOf(text), () => write, keep)
  }

  async function fillPieces(pieces: Iterable<Piece>, writerAfter: (text: string) => Write, keep = same) {
    let filled = ''
    for (const { text, path } of pieces) {
      const write = writerAfter(text)
      filled += keep(text)
      if (path === undefined) continue
      await turn()
      const value = read(path)
      await turn()
      filled += write(value)
    }
    return filled
  }

  async function fillJson(text: string): Promise<string> {
    let isInString = false
    return await fillPieces(piecesOf(text, true), before => {
      for (const [found] of before.matchAll(quoteOrEscape)) if (found === '"') isInString = !isInString
      return isInString ? jsonString : jsonOf
    })
  }

  async function resolve(value: unknown): Promise<unknown> {
    await turn()
    if (typeof value === 'string') {
      const [, path] = wholeTemplate.exec(value) ?? []
      return path === undefined ? await fill(value) : read(path)
    }
    return await mapEntries(value, resolve)
  }

  return { resolve, fill, fillJson, warnings: () => [...missing].map(path => `{{${path}}} is empty`) }
}

/** Returns the same list or object with other entries; any other value unchanged. */
export async function mapEntries(
  value: unknown,
  map: (entry: unknown, name?: string) => Promise<unknown>,
): Promise<unknown> {
  if (Array.isArray(value)) {
    const mapped: unknown[] = []
    for (const entry of value) mapped.push(await map(entry))
    return mapped
  }
  if (typeof value !== 'object' || value === null) return value
  const mapped: [string, unknown][] = []
  for (const name of Object.keys(value)) mapped.push([name, await map(Object(value)[name], name)])
  return Object.fromEntries(mapped)
}

const same = (text: string) => text

const quoteOrEscape = /"|\\./gs

const jsonOf = (value: unknown) => escapeLines(JSON.stringify(value))
const jsonString: Write = value => jsonOf(textOf(value)).slice(1, -1)

/** Escapes line ends of some readers that JSON does not treat as such. */
function escapeLines(json: string): string {
  return json.replace(/[\u2028\u2029]/g, one => `\\u${one.charCodeAt(0).toString(16)}`)
}

interface Piece {
  /** The text before the template, without escapes. */
  text: string
  /** The template's path, which the last piece lacks. */
  path?: string
}

/**
 * Splits a text. A backslash before braces makes them plain text, and two before a template are one; except
 * in JSON, where pairs of backslashes are JSON's own.
 */
function* piecesOf(text: string, isJson = false): Generator<Piece> {
  let kept = ''
  let end = 0
  for (const { 0: found, 1: braces = '', 2: path, index } of text.matchAll(everyTemplate)) {
    const slashes = backslashesBefore(text, index)
    const isEscaped = slashes % 2 === 1
    const isPlain = isEscaped || path === undefined
    const halved = isJson || (isPlain && !isEscaped) ? slashes - Number(isEscaped) : slashes >> 1
    kept += text.slice(end, index - slashes) + '\\'.repeat(halved) + (isPlain ? found : braces.slice(2))
    end = index + found.length
    if (isPlain) continue
    yield { text: kept, path }
    kept = ''
  }
  yield { text: kept + text.slice(end) }
}

function backslashesBefore(text: string, index: number): number {
  let start = index
  while (text[start - 1] === '\\') start -= 1
  return index - start
}

/** Returns the reason why braces are no template, and a remedy; undefined if all are templates or escaped. */
export function templateProblem(text: string): string | undefined {
  for (const { 1: braces = '', 2: path, index } of text.matchAll(everyTemplate)) {
    if (backslashesBefore(text, index) % 2 === 1 || (path !== undefined && braces.length === 2)) continue
    const close = text.indexOf('}}', index)
    const shown = text.slice(
      index,
      Math.min(index + maxShown, close < 0 ? text.length : close + braces.length),
    )
    return `has ${shown}, which is no path: write {{order.id}}, {{items[0]}} or {{order["first name"]}}, or \\{{ for the braces themselves`
  }
  return undefined
}

const maxShown = 60

/** Returns the paths of the templates in a text, and the texts around them, which are one more. */
export function splitTemplates(text: string, isJson = false): { texts: string[]; paths: string[] } {
  const pieces = [...piecesOf(text, isJson)]
  return {
    texts: pieces.map(piece => piece.text),
    paths: pieces.flatMap(piece => piece.path ?? []),
  }
}

/** Returns the names of a path. */
export function namesOf(path: string): string[] {
  return [...path.matchAll(everyName)].map(([, name, , key]) => name ?? key ?? '')
}

/** Returns the text of a value: empty for null, JSON for an object. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const lengths = new WeakMap<object, number>()

/** Returns the length of a value's text, measured once: all items of a loop can read a large one. */
function lengthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return textOf(value).length
  const length = lengths.get(value) ?? textOf(value).length
  lengths.set(value, length)
  return length
}

/** Returns only values of JSON: neither inherited ones nor the length of a list. */
function valueAt(path: string, scope: TemplateScope): unknown {
  const names = namesOf(path)
  const { input } = scope
  let value: unknown = isOwn(scope, names[0] ?? '') ? scope : input
  for (const name of names) {
    const key = isOwn(value, name) ? name : (aliases.get(Object(value))?.get(name) ?? name)
    if (!isOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

const aliases = new WeakMap<object, ReadonlyMap<string, string>>()

/** Adds camelCase aliases for templates to the names of an object, except for existing ones. */
export function aliasInCamelCase<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value).map(name => [camelCase(name), name] as const)
  aliases.set(value, new Map(names.filter(([alias, name]) => alias !== name)))
  return value
}

export function hasAliases(value: object): boolean {
  return aliases.has(value)
}

/** Returns the value with its aliases as values of their own, for code. */
export function withAliases(value: unknown): unknown {
  const own = aliases.get(Object(value))
  if (own === undefined) return value
  const named: Record<string, unknown> = Object(value)
  return { ...Object.fromEntries([...own].map(([alias, name]) => [alias, named[name]])), ...named }
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function isOwn(value: unknown, name: string): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && Object.prototype.propertyIsEnumerable.call(value, name)
  )
}
