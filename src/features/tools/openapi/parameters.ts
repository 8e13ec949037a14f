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
  /** Why the operation cannot be called at all. */
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
 * The parameters of an operation and of its path; the operation's own take precedence. Those of the path template are
 * always included.
 */
export function readParameters(
  references: References,
  levels: { path: unknown; operation: unknown },
  template: string,
): ReadParameters {
  const found = new Map<string, Parameter>()
  const warnings: string[] = []
  for (const source of [...listOf(levels.path), ...listOf(levels.operation)]) {
    const read = readParameter(references, source)
    if (typeof read === 'string') warnings.push(read)
    else if (read !== undefined) found.set(`${read.in} ${comparedName(read)}`, read)
    if (found.size > limits.parametersPerOperation) {
      return {
        parameters: [],
        warnings,
        fault: `it has more than ${limits.parametersPerOperation} parameters`,
      }
    }
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

/** A string says why a parameter is left out; undefined is one to be ignored by the standard. */
function readParameter(references: References, source: unknown): Parameter | string | undefined {
  const found = references.resolve(source)
  if (!found.ok) return `A parameter was left out: ${found.problem}.`
  const name = ownValue(found.value, 'name')
  const place = ownValue(found.value, 'in')
  if (typeof name !== 'string' || !isPlace(place)) {
    return 'A parameter was left out: it lacks a name, or the place "in" that it belongs to.'
  }
  if (!isCleanName(name) || name.length > limits.nameCharacters) {
    return `A ${place} parameter was left out: its name is too long or holds characters that can't be sent.`
  }
  if (place === 'header' && describedElsewhere.has(name.toLowerCase())) return undefined
  if (place === 'header' && (!isHeaderName(name) || isConnectionHeader(name))) {
    return `The header ${JSON.stringify(name)} was left out: tools can't set it.`
  }
  return { name, in: place, ...shapeOf(found.value, place), ...contentOf(found.value) }
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

/** A parameter with a media type instead of a schema is encoded in that; only JSON and plain text are in use. */
function contentOf(source: unknown): Pick<Parameter, 'schema' | 'json'> {
  const [content] = entriesOf(ownValue(source, 'content'))
  if (content === undefined) return { schema: ownValue(source, 'schema') ?? { type: 'string' } }
  const [mediaType, description] = content
  const schema = ownValue(description, 'schema') ?? {}
  return /[/+]json\b/.test(mediaType) ? { schema, json: true } : { schema }
}
