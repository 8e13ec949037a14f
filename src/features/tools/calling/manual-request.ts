import { invalid } from '#platform/errors.ts'
import { type AddressTemplate, joinAddress, splitAddress } from '#platform/outbound/address-template.ts'
import { encodeFields, fieldText, fieldTexts, multipartTextProblem } from '#platform/outbound/form-body.ts'
import { isConnectionHeader, mayHoldSecret, requireHeaderValue } from '#platform/outbound/header-rules.ts'
import type { EncodedBody } from '#platform/outbound/multipart.ts'
import { encodeLiteralPath, encodeValue, isDotSegment } from '#platform/outbound/percent-encoding.ts'
import type { Arguments, HttpRequest, ManualConfiguration } from './http-configuration.ts'
import { type BodyTemplate, bodyTemplateOf, parseHeaders, placeholdersIn } from './manual-template.ts'
import {
  fillJson,
  fillText,
  type LookUp,
  lookUpIn,
  namesIn,
  parseJsonTemplate,
  wholeName,
} from './placeholders.ts'
import { type Pair, stylePairs } from './serialize-argument.ts'
import { isRecord, textOf } from './values.ts'

/** Methods whose other arguments go into the query. */
const queryMethods = new Set(['GET', 'DELETE', 'HEAD'])

/** Builds the request of a manual tool. Throws VALIDATION_ERROR, with the argument's name, for values that can't be sent. */
export function manualRequest(configuration: ManualConfiguration, values: Arguments): HttpRequest {
  const { method } = configuration
  const template = splitAddress(configuration.url)
  const headers = parseHeaders(configuration.headers)
  if (template === undefined) throw invalid('url', 'is not a full address such as https://example.com/items')
  if (headers === undefined) throw invalid('headers', 'must be a JSON object whose values are texts')
  const lookUp = lookUpIn(values)
  const rest = unusedArguments(configuration, values)
  const body = bodyTemplateOf(configuration, headers)
  const isWritten = body.kind !== 'none' || (!queryMethods.has(method) && Object.keys(rest).length > 0)
  const sent = isWritten ? bodyOf(body, lookUp, rest, headers) : undefined
  return {
    url: addressOf(template, lookUp, queryMethods.has(method) ? rest : {}),
    method,
    headers: Object.fromEntries([
      ['accept', 'application/json, */*;q=0.5'],
      ...headersOf(headers, lookUp),
      ...(sent === undefined ? [] : [['content-type', sent.contentType] satisfies Pair]),
    ]),
    body: sent?.body ?? null,
    secretHeaders: headers.map(([name]) => name.toLowerCase()).filter(mayHoldSecret),
    secretQuery: [],
    missingCredentials: [],
  }
}

function unusedArguments(configuration: ManualConfiguration, values: Arguments): Arguments {
  const used = placeholdersIn(configuration)
  return Object.fromEntries(Object.entries(values).filter(([name]) => !used.has(name)))
}

function addressOf({ origin, path, query }: AddressTemplate, lookUp: LookUp, further: Arguments): string {
  const pairs = Object.entries(further)
    .flatMap(([name, value]) => stylePairs({ name, style: 'form', explode: true }, flat(value), encodeValue))
    .map(([name, value]) => `${name}=${value}`)
  return joinAddress(origin, fillPath(path, lookUp), [...fillQuery(query, lookUp), ...pairs])
}

/** Objects have no standard form in a query; they are sent as JSON. */
function flat(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value
}

function fillPath(path: string, lookUp: LookUp): string {
  const encoded = encodeAround(path, encodeLiteralPath)
  const filled = fillText(encoded, lookUp, (value, name) => {
    const text = pathValue(value)
    if (text === undefined) throw invalid(name, 'is required')
    if (text === '') throw invalid(name, 'must not be empty, since it is a part of the path')
    return text
  })
  if (filled.split('/').some(isDotSegment)) {
    throw invalid('url', 'a part of the path must not be "." or "..": give another value')
  }
  return filled
}

function pathValue(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return Array.isArray(value)
    ? value.map(item => encodeValue(textOf(item))).join(',')
    : encodeValue(textOf(value))
}

/** A pair without a value for any of its placeholders is left out. */
function fillQuery(query: string, lookUp: LookUp): string[] {
  if (query === '') return []
  const isGiven = (name: string) => lookUp(name) !== undefined && lookUp(name) !== null
  return query
    .split('&')
    .filter(pair => namesIn(pair).length === 0 || namesIn(pair).some(isGiven))
    .map(pair => fillText(encodeAround(pair, encodeQueryText), lookUp, value => pathValue(value) ?? ''))
}

function encodeQueryText(text: string): string {
  return text
    .split(/([?])/)
    .map(piece => (piece === '?' ? piece : encodeLiteralPath(piece)))
    .join('')
}

/** Encodes the text around placeholders and leaves the placeholders alone. */
function encodeAround(text: string, encode: (text: string) => string): string {
  return text
    .split(/(\{[A-Za-z_][\w.-]*\})/)
    .map((piece, index) => (index % 2 === 0 ? encode(piece) : piece))
    .join('')
}

function headersOf(headers: readonly Pair[], lookUp: LookUp): Pair[] {
  return headers
    .filter(([name]) => !isConnectionHeader(name))
    .map(([name, value]) => {
      const filled = fillText(value, lookUp, (given, argument) => requireHeaderValue(argument, textOf(given)))
      return [name.toLowerCase(), requireHeaderValue(`headers.${name}`, filled)]
    })
}

function bodyOf(
  template: BodyTemplate,
  lookUp: LookUp,
  rest: Arguments,
  headers: readonly Pair[],
): EncodedBody {
  const given = headersOf(headers, lookUp).find(([name]) => name === 'content-type')?.[1]
  if (template.kind === 'form') return { contentType: given ?? '', body: fillForm(template.text, lookUp) }
  if (template.kind === 'text') {
    const problem = multipartTextProblem(given ?? '', namesIn(template.text).length > 0)
    if (problem !== undefined) throw invalid('body', problem)
    const contentType = given ?? 'text/plain; charset=utf-8'
    const isJson = /json/i.test(contentType)
    const body = isJson ? fillJsonText(template.text, lookUp) : fillText(template.text, lookUp, textOf)
    return { contentType, body }
  }
  const value = (template.kind === 'json' ? fillJson(template.value, lookUp) : rest) ?? null
  const json = { contentType: given ?? 'application/json', body: JSON.stringify(value) }
  return encodeFields(isRecord(value) ? withoutNull(value) : value, given ?? '') ?? json
}

function withoutNull(fields: Arguments): Arguments {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => (value ?? null) !== null))
}

/** Fills JSON, or lines of JSON as in `application/x-ndjson`; other text keeps its form. */
function fillJsonText(text: string, lookUp: LookUp): string {
  const template = parseJsonTemplate(text)
  if (template !== undefined) return JSON.stringify(fillJson(template.value, lookUp) ?? null)
  const lines = text.split('\n')
  if (lines.length === 1) return fillText(text, lookUp, textOf)
  return lines.map(line => fillJsonText(line, lookUp)).join('\n')
}

/** A placeholder that is the whole value of a field can be a list. */
function fillForm(text: string, lookUp: LookUp): string {
  const fill = (part: string) => fillText(part, lookUp, (value, name) => encodeValue(fieldText(name, value)))
  const pairs = text.split('&').flatMap(pair => {
    const at = pair.indexOf('=') + 1
    const whole = at === 0 ? undefined : wholeName(pair.slice(at))
    if (whole === undefined) return fill(pair)
    return fieldTexts(whole, lookUp(whole)).map(one => fill(pair.slice(0, at)) + encodeValue(one))
  })
  return pairs.join('&')
}
