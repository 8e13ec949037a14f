import { invalid } from '../errors.ts'

/** What templates read: named roots; whatever names no root is read from `input`. */
export interface TemplateScope {
  readonly input: unknown
  readonly [root: string]: unknown
}

/** Puts values in the place of `{{dotted.paths}}`. Nothing is evaluated, and what was put in is not looked through again. */
export interface Templates {
  /** Resolves all texts of a JSON value. A text that is one template becomes the value itself; null where there is none. */
  resolve(value: unknown): unknown
  /**
   * Resolves a text to a text.
   * @param write gives what is put in as text; by default as it is, or as JSON if it is an object.
   * @param keep gives the text around it; by default as it is.
   */
  fill(text: string, write?: (value: unknown) => string, keep?: (text: string) => string): string
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
  const lengths = new Map<string, number>()
  let inserted = 0

  function read(path: string): unknown {
    const value = valueAt(path, scope) ?? null
    if (value === null) missing.add(path)
    const length = lengths.get(path) ?? textOf(value).length
    lengths.set(path, length)
    inserted += length
    if (inserted > maxInserted)
      throw invalid(`{{${path}}}`, `is too long: at most ${maxInserted} characters are put in`)
    return value
  }

  function fill(text: string, write = textOf, keep = (same: string) => same): string {
    return text
      .split(everyTemplate)
      .map((piece, index) => (index % 2 === 0 ? keep(piece) : write(read(piece))))
      .join('')
  }

  function resolve(value: unknown): unknown {
    if (typeof value === 'string') {
      const [, path] = wholeTemplate.exec(value) ?? []
      return path === undefined ? fill(value) : read(path)
    }
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolve(inner)]))
  }

  return { resolve, fill, warnings: () => [...missing].map(path => `{{${path}}} is empty`) }
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

/** Only what JSON has: neither what objects inherit nor the length of a list. */
function valueAt(path: string, scope: TemplateScope): unknown {
  const names = path.split('.')
  const start: unknown = isOwn(scope, names[0] ?? '') ? scope : scope.input
  return names.reduce<unknown>(
    (value, name) => (isOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined),
    start,
  )
}

function isOwn(value: unknown, name: string): boolean {
  return (
    typeof value === 'object' && value !== null && Object.prototype.propertyIsEnumerable.call(value, name)
  )
}
