import { invalid } from '../errors.ts'
import { turn } from '../event-loop/turns.ts'

type Write = (value: unknown) => string

/** The values that templates read: named roots; paths without a named root are read from `input`. */
export interface TemplateScope {
  readonly input: unknown
  readonly [root: string]: unknown
}

/**
 * Puts values in the place of `{{dotted.paths}}`, in turns of the event loop. Nothing is evaluated, and what was put in is
 * not looked through again.
 */
export interface Templates {
  /** Resolves all texts of a JSON value. A text that is one template becomes the value itself; null where there is none. */
  resolve(value: unknown): Promise<unknown>
  /**
   * Resolves a text to a text.
   * @param write gives what is put in as text; by default as it is, or as JSON if it is an object.
   * @param keep gives the text around it; by default as it is.
   */
  fill(text: string, write?: Write, keep?: (text: string) => string): Promise<string>
  /** Resolves a text of JSON: values are escaped within its strings, and JSON elsewhere. The text around stays as it is. */
  fillJson(text: string): Promise<string>
  /** A line for each path that led to nothing so far. */
  warnings(): string[]
}

const name = String.raw`[\p{L}\p{M}\p{N}_$-]+`
/** A number, or a key in quotes, which are escaped where the text around is JSON. */
const bracket = String.raw`\[(?:\d{1,9}|"[^"\\{}]{1,200}"|\\"[^"\\{}]{1,200}\\"|'[^'\\{}]{1,200}')\]`
const path = String.raw`(?:${name}|${bracket})(?:\.${name}|${bracket})*`
/** Groups: the braces, and the path if they enclose one. */
const everyTemplate = new RegExp(String.raw`(\{{2,})(?:\s*(${path})\s*\}\})?`, 'gu')
const wholeTemplate = new RegExp(String.raw`^\{\{\s*(${path})\s*\}\}$`, 'u')
const everyName = new RegExp(String.raw`(${name})|\\?(["'])(.+?)\\?\2\]`, 'gu')

/** Characters that may be put in all together: one value may stand in many places. */
const maxInserted = 4_000_000

/** @throws VALIDATION_ERROR, later, where more is put in than anything could use. */
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

/** The same list or object with other entries; anything else as it is. */
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

/** Line ends to some readers, though not to JSON. */
function escapeLines(json: string): string {
  return json.replace(/[\u2028\u2029]/g, one => `\\u${one.charCodeAt(0).toString(16)}`)
}

interface Piece {
  /** As it is to be kept, before the template. */
  text: string
  /** Of the template, which the last piece lacks. */
  path?: string
}

/**
 * A backslash before braces makes them plain text, and two stand for one before a template; but in JSON, where pairs of
 * backslashes are JSON's own.
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

/** Why braces in a text are not a template, and what to write instead; undefined if they all are, or are escaped. */
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

/** The paths of the templates in a text, and the texts around them, of which there is one more. */
export function splitTemplates(text: string, isJson = false): { texts: string[]; paths: string[] } {
  const pieces = [...piecesOf(text, isJson)]
  return {
    texts: pieces.map(piece => piece.text),
    paths: pieces.flatMap(piece => piece.path ?? []),
  }
}

/** The names that a path leads through. */
export function namesOf(path: string): string[] {
  return [...path.matchAll(everyName)].map(([, name, , key]) => name ?? key ?? '')
}

/** Empty for null; JSON for an object. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const lengths = new WeakMap<object, number>()

/** Of the text of a value. Measured once: the items of a loop may all read a large one. */
function lengthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return textOf(value).length
  const length = lengths.get(value) ?? textOf(value).length
  lengths.set(value, length)
  return length
}

/** Only what JSON has: neither what objects inherit nor the length of a list. */
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

/** Has templates read the names of an object in camelCase as well, except for those that it has itself. */
export function aliasInCamelCase<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value).map(name => [camelCase(name), name] as const)
  aliases.set(value, new Map(names.filter(([alias, name]) => alias !== name)))
  return value
}

export function hasAliases(value: object): boolean {
  return aliases.has(value)
}

/** With its aliases as values of their own, for code. */
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
