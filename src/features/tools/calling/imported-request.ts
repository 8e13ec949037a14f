import { invalid } from '#platform/errors.ts'
import { isConnectionHeader, isHeaderName, requireHeaderValue } from '#platform/outbound/header-rules.ts'
import type { EncodedBody } from '#platform/outbound/multipart.ts'
import { encodeLiteralPath, encodeValue, isDotSegment } from '#platform/outbound/percent-encoding.ts'
import { parseTarget } from '#platform/outbound/target-url.ts'
import { applyCredentials } from './credentials.ts'
import { encodeBody } from './encode-body.ts'
import type {
  Arguments,
  Credentials,
  HttpRequest,
  ImportedConfiguration,
  PlacedArgument,
} from './http-configuration.ts'
import { namesInPath, splitAtNames } from './path-template.ts'
import { type LookUp, lookUpIn } from './placeholders.ts'
import { headerText, type Pair, pathText, queryPairs } from './serialize-argument.ts'
import { ownValue, textOf } from './values.ts'

/** Builds the request of an imported tool. Throws VALIDATION_ERROR, with the argument's name, for values that can't be sent. */
export function importedRequest(
  configuration: ImportedConfiguration,
  values: Arguments,
  credentials: Credentials,
): HttpRequest {
  const placement = configuration.placement ?? customaryPlacement(configuration)
  const given = placement.filter(placed => isGiven(placed, values))
  const applied = applyCredentials(configuration.security ?? [], credentials)
  const body = bodyOf(configuration, values)
  const lookUp = lookUpIn(values)
  const url = addressOf(configuration, given, lookUp, applied.query)
  return {
    url,
    method: configuration.method,
    headers: Object.fromEntries([
      ['accept', 'application/json, */*;q=0.5'],
      ...headersOf(given, lookUp),
      ...cookieHeader(given, lookUp, applied.cookies),
      ...(body === undefined ? [] : [['content-type', body.contentType] satisfies Pair]),
      ...applied.headers,
    ]),
    body: body?.body ?? null,
    secretHeaders: applied.secretHeaders,
    secretQuery: applied.secretQuery,
    missingCredentials: applied.missing,
  }
}

/** Returns the standard's default styles, for a configuration that only names its parameters. */
function customaryPlacement({ pathTemplate, queryParams }: ImportedConfiguration): PlacedArgument[] {
  return [
    ...namesInPath(pathTemplate).map(name =>
      placed(name, { in: 'path', style: 'simple', explode: false, required: true }),
    ),
    ...queryParams.map(name => placed(name, { in: 'query', style: 'form', explode: true, required: false })),
  ]
}

function placed(name: string, rest: Omit<PlacedArgument, 'name' | 'argument'>): PlacedArgument {
  return { argument: name, name, ...rest }
}

function isGiven({ argument, required, in: place }: PlacedArgument, values: Arguments): boolean {
  const value = ownValue(values, argument)
  const isThere = value !== undefined && (value !== null || place === 'path')
  if (required && !isThere) throw invalid(argument, 'is required')
  return isThere
}

function addressOf(
  { baseUrl, pathTemplate }: ImportedConfiguration,
  given: readonly PlacedArgument[],
  lookUp: LookUp,
  secret: readonly Pair[],
): string {
  const base = baseOf(baseUrl)
  const inPath = new Map(given.filter(one => one.in === 'path').map(one => [one.name, one]))
  const [template = '', queryTemplate = ''] = splitTemplate(pathTemplate)
  const path = base.path + fillPath(template, inPath, lookUp)
  const secretNames = new Set(secret.map(([name]) => name))
  const pairs = given
    .filter(one => one.in === 'query')
    .flatMap(one => queryPairs(one, lookUp(one.argument)))
    .filter(([name]) => !secretNames.has(name))
  const ofTemplate = fillQuery(queryTemplate, inPath, lookUp)
  const query = [ofTemplate, ...[...pairs, ...secret].map(([name, value]) => `${name}=${value}`)]
  const written = query.filter(part => part !== '').join('&')
  const url = base.origin + path + (written === '' ? '' : `?${written}`)
  requireUnchanged(url, base, path)
  return url
}

/** Requires the origin and the exact path of the document, with any arguments. */
function requireUnchanged(url: string, base: { origin: string; path: string }, path: string): void {
  const parsed = URL.parse(url)
  const isSame = parsed?.origin === base.origin && parsed.pathname === path && parsed.hash === ''
  if (!isSame) throw invalid('pathTemplate', `gives an address outside of ${base.origin}${base.path}`)
}

function baseOf(baseUrl: string): { origin: string; path: string } {
  const target = parseTarget(baseUrl)
  if (!target.ok) throw invalid('baseUrl', target.reason)
  if (/[{}]/.test(baseUrl)) throw invalid('baseUrl', 'holds a variable in braces; write its value instead')
  return { origin: target.url.origin, path: target.url.pathname.replace(/\/+$/, '') }
}

/** Returns the path, and the query that some documents append to it; a fragment is never sent. */
function splitTemplate(template: string): string[] {
  const [sent = ''] = template.split('#', 1)
  const mark = sent.indexOf('?')
  return mark === -1 ? [sent] : [sent.slice(0, mark), sent.slice(mark + 1)]
}

function fillQuery(template: string, inPath: Map<string, PlacedArgument>, lookUp: LookUp): string {
  return splitAtNames(template)
    .map((piece, index) => {
      if (index % 2 === 0) return encodeLiteralPath(piece)
      const argument = inPath.get(piece.slice(1, -1))
      return encodeValue(argument === undefined ? piece : textOf(lookUp(argument.argument)))
    })
    .join('')
}

function fillPath(template: string, inPath: Map<string, PlacedArgument>, lookUp: LookUp): string {
  const path = splitAtNames(template)
    .map((piece, index) =>
      index % 2 === 0 ? encodeLiteralPath(piece) : fillPlaceholder(piece, inPath, lookUp),
    )
    .join('')
  if (path.split('/').some(isDotSegment)) {
    throw invalid('pathTemplate', 'a part of the path must not be "." or "..": give another value')
  }
  return path
}

function fillPlaceholder(piece: string, inPath: Map<string, PlacedArgument>, lookUp: LookUp): string {
  const argument = inPath.get(piece.slice(1, -1))
  if (argument === undefined) return encodeValue(piece)
  const value = lookUp(argument.argument)
  if (value === undefined || value === null) throw invalid(argument.argument, 'is required')
  const text = isEmpty(value) ? '' : pathText(argument, value)
  if (text === '') throw invalid(argument.argument, 'must not be empty, since it is a part of the path')
  if (isDotSegment(text))
    throw invalid(argument.argument, 'must not be "." or "..", since it is a part of the path')
  return text
}

function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}

function headersOf(given: readonly PlacedArgument[], lookUp: LookUp): Pair[] {
  return given
    .filter(({ in: place, name }) => place === 'header' && isHeaderName(name) && !isConnectionHeader(name))
    .map(one => {
      const text = headerText(one, lookUp(one.argument))
      return [one.name.toLowerCase(), requireHeaderValue(one.argument, text)]
    })
}

/** All cookies go into one header; a credential overrides an argument of the same name. */
function cookieHeader(given: readonly PlacedArgument[], lookUp: LookUp, secret: readonly Pair[]): Pair[] {
  const secretNames = new Set(secret.map(([name]) => name))
  const pairs = given
    .filter(({ in: place }) => place === 'cookie')
    .flatMap(one => queryPairs(one, lookUp(one.argument)))
    .filter(([name]) => !secretNames.has(name))
  const cookies = [...pairs, ...secret].map(([name, value]) => `${name}=${value}`)
  return cookies.length === 0 ? [] : [['cookie', cookies.join('; ')]]
}

function bodyOf({ requestBody, method }: ImportedConfiguration, values: Arguments): EncodedBody | undefined {
  if (requestBody === undefined || method === 'GET' || method === 'HEAD') return undefined
  const value = ownValue(values, requestBody.argument)
  if (value !== undefined) return encodeBody(requestBody, value)
  if (requestBody.required) throw invalid(requestBody.argument, 'is required')
  return undefined
}
