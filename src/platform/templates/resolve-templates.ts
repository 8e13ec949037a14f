import { invalid } from '../errors.ts'
import { turn } from '../event-loop/turns.ts'

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
  fill(text: string, write?: (value: unknown) => string, keep?: (text: string) => string): Promise<string>
  /** A line for each path that led to nothing so far. */
  warnings(): string[]
}

/** Has one group, so that `split` gives texts and paths in turn. */
const template = /\{\{\s*([\p{L}\p{M}\p{N}_$-]+(?:\.[\p{L}\p{M}\p{N}_$-]+)*)\s*\}\}/u
const everyTemplate = new RegExp(template.source, 'gu')
const wholeTemplate = new RegExp(`^${template.source}$`, 'u')

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

  async function fill(text: string, write = textOf, keep = (same: string) => same): Promise<string> {
    let filled = ''
    let end = 0
    for (const { 0: found, 1: path = '', index } of text.matchAll(everyTemplate)) {
      await turn()
      const value = read(path)
      await turn()
      filled += keep(text.slice(end, index)) + write(value)
      end = index + found.length
    }
    return filled + keep(text.slice(end))
  }

  async function resolve(value: unknown): Promise<unknown> {
    await turn()
    if (typeof value === 'string') {
      const [, path] = wholeTemplate.exec(value) ?? []
      return path === undefined ? await fill(value) : read(path)
    }
    return await mapEntries(value, resolve)
  }

  return { resolve, fill, warnings: () => [...missing].map(path => `{{${path}}} is empty`) }
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

/** The paths of the templates in a text, and the texts around them, of which there is one more. */
export function splitTemplates(text: string): { texts: string[]; paths: string[] } {
  const pieces = text.split(everyTemplate)
  return {
    texts: pieces.filter((_, index) => index % 2 === 0),
    paths: pieces.filter((_, index) => index % 2 === 1),
  }
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
  const names = path.split('.')
  const { input } = scope
  let value: unknown = isOwn(scope, names[0] ?? '') ? scope : input
  for (const name of names) {
    if (!isOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

function isOwn(value: unknown, name: string): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && Object.prototype.propertyIsEnumerable.call(value, name)
  )
}
