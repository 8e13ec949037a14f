import { isConnectionHeader, isHeaderName } from '#platform/outbound/header-rules.ts'
import type { PlacedArgument } from '../calling/http-configuration.ts'
import { namesInPath } from '../calling/path-template.ts'
import { ownValue } from '../calling/values.ts'
import { isCleanName } from './clean-text.ts'
import { entriesOf, listOf } from './convert-schema.ts'
import { limits } from './limits.ts'
import type { References } from './references.ts'

/** A parameter of an operation, before it gets the name of an argument. */
export interface Parameter extends Omit<PlacedArgument, 'argument'> {
  description: unknown
  schema: unknown
}

export interface ReadParameters {
  parameters: Parameter[]
  warnings: string[]
  /** The reason why the operation can't be called at all. */
  fault?: string
}

type Place = PlacedArgument['in']

const places: readonly unknown[] = ['path', 'query', 'header', 'cookie'] satisfies Place[]
const styles: Record<Place, readonly PlacedArgument['style'][]> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}
/** Headers that other parts of a document describe; by the standard, parameters of these names are ignored. */
const describedElsewhere = new Set(['accept', 'content-type', 'authorization'])

/**
 * Reads the parameters of an operation and of its path; the operation's own take precedence. Those of the path template are
 * always included.
 */
export function readParameters(
  references: References,
  levels: { path: unknown; operation: unknown },
  template: string,
): ReadParameters {
  const found = new Map<string, Parameter>()
  const warnings: string[] = []
  const refused = (fault: string) => ({ parameters: [], warnings, fault })
  // All at once, so that all missing documents are known together.
  const sources = [...listOf(levels.path), ...listOf(levels.operation)].map(references.resolve)
  for (const resolved of sources) {
    if (!resolved.ok) return refused(`a parameter can't be read: ${resolved.problem}`)
    const read = readParameter(resolved.value)
    if (read !== undefined && 'leftOut' in read) {
      if (read.isNeeded) return refused(`it requires a parameter that can't be sent: ${read.leftOut}`)
      warnings.push(`A parameter was left out: ${read.leftOut}.`)
    } else if (read !== undefined) found.set(`${read.in} ${comparedName(read)}`, read)
    if (found.size > limits.parametersPerOperation)
      return refused(`it has more than ${limits.parametersPerOperation} parameters`)
  }
  const names = new Set(namesInPath(template))
  const declared = [...found.values()]
  const undeclared = [...names].filter(name => !declared.some(one => one.in === 'path' && one.name === name))
  for (const { name } of declared.filter(one => one.in === 'path' && !names.has(one.name))) {
    warnings.push(`The path parameter ${JSON.stringify(name)} was left out: the path has no place for it.`)
  }
  const placed = declared.filter(one => one.in !== 'path' || names.has(one.name))
  return { parameters: [...undeclared.map(fromTemplate), ...placed], warnings }
}

function comparedName({ in: place, name }: Parameter): string {
  return place === 'header' ? name.toLowerCase() : name
}

function fromTemplate(name: string): Parameter {
  return {
    name,
    in: 'path',
    style: 'simple',
    explode: false,
    required: true,
    description: undefined,
    schema: { type: 'string' },
  }
}

/** The reason why a parameter is left out, as a clause, and whether requests make no sense without it. */
interface LeftOut {
  leftOut: string
  isNeeded: boolean
}

/** Returns undefined for a parameter that the standard ignores. */
function readParameter(source: unknown): Parameter | LeftOut | undefined {
  const name = ownValue(source, 'name')
  const place = ownValue(source, 'in')
  const isNeeded = ownValue(source, 'required') === true
  if (typeof name !== 'string' || !isPlace(place))
    return { leftOut: 'it lacks a name, or the place "in" that it belongs to', isNeeded }
  if (!isCleanName(name) || name.length > limits.nameCharacters) {
    const leftOut = `the name of one in ${place} is too long or holds characters that can't be sent`
    return { leftOut, isNeeded }
  }
  if (place === 'header' && describedElsewhere.has(name.toLowerCase())) return undefined
  // The connection sets its own.
  const isOfConnection = isConnectionHeader(name)
  if (place === 'header' && (isOfConnection || !isHeaderName(name)))
    return {
      leftOut: `tools can't set the header ${JSON.stringify(name)}`,
      isNeeded: isNeeded && !isOfConnection,
    }
  return { name, in: place, ...shapeOf(source, place), ...contentOf(source) }
}

function isPlace(value: unknown): value is Place {
  return places.includes(value)
}

function shapeOf(source: unknown, place: Place) {
  const declared = ownValue(source, 'style')
  const style = styles[place].find(one => one === declared) ?? styles[place][0] ?? 'simple'
  const explode = ownValue(source, 'explode')
  return {
    style,
    explode: typeof explode === 'boolean' ? explode : style === 'form',
    ...(ownValue(source, 'allowReserved') === true && place === 'query' ? { allowReserved: true } : {}),
    required: place === 'path' || ownValue(source, 'required') === true,
    description: ownValue(source, 'description'),
  }
}

/** Reads a parameter with a media type instead of a schema; only JSON and plain text are in use. */
function contentOf(source: unknown): Pick<Parameter, 'schema' | 'json'> {
  const [content] = entriesOf(ownValue(source, 'content'))
  if (content === undefined) return { schema: ownValue(source, 'schema') ?? { type: 'string' } }
  const [mediaType, description] = content
  const schema = ownValue(description, 'schema') ?? {}
  return /[/+]json\b/.test(mediaType) ? { schema, json: true } : { schema }
}
