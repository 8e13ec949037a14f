/** The styles in which OpenAPI 3 writes values into paths, queries, headers and cookies (RFC 6570 underneath). */

import { encodeReserved, encodeValue } from '#platform/outbound/percent-encoding.ts'
import type { PlacedArgument } from './http-configuration.ts'
import { isRecord, textOf } from './values.ts'

type Encode = (text: string) => string
type Shape = Pick<PlacedArgument, 'name' | 'style' | 'explode'>
export type Pair = [name: string, value: string]

const deepest = 20

/** A value in a path: it never contains an unencoded slash. */
export function pathText(argument: PlacedArgument, value: unknown): string {
  if (argument.json) return encodeValue(JSON.stringify(value))
  const { style, explode } = argument
  const name = encodeValue(argument.name)
  if (style === 'label') return `.${joined(value, explode ? '.' : ',', explode, encodeValue)}`
  if (style !== 'matrix') return joined(value, ',', explode, encodeValue)
  if (Array.isArray(value) && explode) {
    return value.map(item => matrixPair(name, encodeValue(textOf(item)))).join('')
  }
  if (isRecord(value) && explode) {
    return membersOf(value)
      .map(([key, item]) => matrixPair(encodeValue(key), encodeValue(item)))
      .join('')
  }
  return matrixPair(name, joined(value, ',', false, encodeValue))
}

function matrixPair(name: string, value: string): string {
  return value === '' ? `;${name}` : `;${name}=${value}`
}

/** A value of a header, in the style `simple`. */
export function headerText(argument: PlacedArgument, value: unknown): string {
  if (argument.json) return JSON.stringify(value)
  return joined(value, ',', argument.explode, text => text)
}

/** The pairs that a value adds to a query or form; both sides are percent-encoded. */
export function queryPairs(argument: PlacedArgument, value: unknown): Pair[] {
  const encode = argument.allowReserved ? encodeReserved : encodeValue
  if (argument.json) return [[encodeValue(argument.name), encode(JSON.stringify(value))]]
  return stylePairs(argument, value, encode)
}

export function stylePairs({ name, style, explode }: Shape, value: unknown, encode: Encode): Pair[] {
  if (value === undefined || value === null) return []
  const wireName = encodeValue(name)
  if (typeof value !== 'object') return [[wireName, encode(textOf(value))]]
  if (style === 'deepObject') return deepPairs(name, value, encode, 0)
  if (Array.isArray(value)) {
    if (value.length === 0) return []
    if (explode) return value.map(item => [wireName, encode(textOf(item))])
  } else if (explode && isRecord(value)) {
    return membersOf(value).map(([key, item]) => [encodeValue(key), encode(item)])
  }
  const separator = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '%7C' : ','
  return [[wireName, joined(value, separator, false, encode)]]
}

/** `filter[price][min]=1`; array elements are numbered. */
function deepPairs(name: string, value: unknown, encode: Encode, depth: number): Pair[] {
  if (value === undefined || value === null) return []
  if (typeof value !== 'object' || depth === deepest) return [[encodeValue(name), encode(textOf(value))]]
  return Object.entries(value).flatMap(([key, item]) => deepPairs(`${name}[${key}]`, item, encode, depth + 1))
}

/** Lists as `a,b`, objects as `key,value` or, exploded, `key=value`. */
function joined(value: unknown, separator: string, explode: boolean, encode: Encode): string {
  if (Array.isArray(value)) return value.map(item => encode(textOf(item))).join(separator)
  if (!isRecord(value)) return encode(textOf(value))
  const between = explode ? '=' : separator
  return membersOf(value)
    .map(([key, item]) => `${encode(key)}${between}${encode(item)}`)
    .join(separator)
}

function membersOf(value: object): Pair[] {
  return Object.entries(value)
    .filter(([, item]) => item !== undefined && item !== null)
    .map(([key, item]) => [key, textOf(item)])
}
