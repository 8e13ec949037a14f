import { invalid } from '#platform/errors.ts'
import type { AddressTemplate } from '#platform/outbound/address-template.ts'
import { joinAddress, splitAddress } from '#platform/outbound/address-template.ts'
import { isConnectionHeader, mayHoldSecret, requireHeaderValue } from '#platform/outbound/header-rules.ts'
import { encodeLiteralPath, encodeValue, isDotSegment } from '#platform/outbound/percent-encoding.ts'
import { encodeForm } from './encode-body.ts'
import type { Arguments, HttpRequest, ManualConfiguration } from './http-configuration.ts'
import type { BodyTemplate } from './manual-template.ts'
import { bodyTemplateOf, contentTypeOf, parseHeaders, placeholdersIn } from './manual-template.ts'
import type { LookUp } from './placeholders.ts'
import { fillJson, fillText, lookUpIn, namesIn } from './placeholders.ts'
import type { Pair } from './serialize-argument.ts'
import { stylePairs } from './serialize-argument.ts'
import { textOf } from './values.ts'

/** Methods whose other arguments go into the query. */
const queryMethods = new Set(['GET', 'DELETE', 'HEAD'])

/** The request of a manual tool. Throws VALIDATION_ERROR, with the argument's name, for what cannot be sent. */
export function manualRequest(configuration: ManualConfiguration, values: Arguments): HttpRequest {
  const { method } = configuration
  const template = splitAddress(configuration.url)
  const headers = parseHeaders(configuration.headers)
  if (template === undefined) throw invalid('url', 'is not a full address such as https://example.com/items')
  if (headers === undefined) throw invalid('headers', 'must be a JSON object whose values are texts')
  const lookUp = lookUpIn(values)
  const rest = unusedArguments(configuration, values)
  const body = bodyTemplateOf(configuration, headers)
  const sent = bodyOf(body, lookUp, method, rest, contentTypeOf(headers))
  return {
    url: addressOf(template, lookUp, queryMethods.has(method) ? rest : {}),
    method,
    headers: Object.fromEntries([
      ['accept', 'application/json, */*;q=0.5'],
      ...(sent === undefined ? [] : [['content-type', sent.contentType] satisfies Pair]),
      ...headersOf(headers, lookUp),
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

/** Encodes the text around placeholders and leaves these alone. */
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

interface SentBody {
  contentType: string
  body: string
}

function bodyOf(
  template: BodyTemplate,
  lookUp: LookUp,
  method: string,
  rest: Arguments,
  contentType: string | undefined,
): SentBody | undefined {
  if (template.kind === 'json') {
    const filled = fillJson(template.value, lookUp)
    return { contentType: 'application/json', body: JSON.stringify(filled ?? null) }
  }
  if (template.kind === 'text')
    return { contentType: 'text/plain; charset=utf-8', body: fillText(template.text, lookUp, textOf) }
  if (template.kind === 'form') {
    const body = fillText(template.text, lookUp, value => encodeValue(textOf(value)))
    return { contentType: 'application/x-www-form-urlencoded', body }
  }
  if (queryMethods.has(method) || Object.keys(rest).length === 0) return undefined
  if (contentType?.startsWith('application/x-www-form-urlencoded'))
    return { contentType, body: encodeForm(rest) }
  return { contentType: 'application/json', body: JSON.stringify(rest) }
}
