/** What templates read: named roots; whatever names no root is read from `input`. */
export interface TemplateScope {
  input: unknown
  [root: string]: unknown
}

export interface Resolved {
  value: unknown
  /** A line for each path that led to nothing. */
  warnings: string[]
}

const template = /\{\{\s*([\w$-]+(?:\.[\w$-]+)*)\s*\}\}/g
const wholeTemplate = new RegExp(`^${template.source}$`)

/**
 * Puts values in the place of `{{dotted.paths}}`, in all texts of a JSON value. A text that is one template becomes the
 * value itself. Only own properties of JSON are read, and what was put in is not looked through again.
 */
export function resolveTemplates(value: unknown, scope: TemplateScope): Resolved {
  const warnings = new Set<string>()
  const read = (path: string) => {
    const found = valueAt(path, scope)
    if (found === undefined || found === null) warnings.add(`{{${path}}} is empty`)
    return found ?? null
  }
  return { value: resolve(value, read), warnings: [...warnings] }
}

function resolve(value: unknown, read: (path: string) => unknown): unknown {
  if (typeof value === 'string') return resolveText(value, read)
  if (Array.isArray(value)) return value.map(entry => resolve(entry, read))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolve(inner, read)]))
}

function resolveText(text: string, read: (path: string) => unknown): unknown {
  const whole = wholeTemplate.exec(text)?.[1]
  if (whole !== undefined) return read(whole)
  return text.replace(template, (_, path: string) => {
    const found = read(path)
    if (found === null) return ''
    return typeof found === 'object' ? JSON.stringify(found) : String(found)
  })
}

function valueAt(path: string, scope: TemplateScope): unknown {
  const names = path.split('.')
  const start: unknown = Object.hasOwn(scope, names[0] ?? '') ? scope : scope.input
  return names.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    start,
  )
}
