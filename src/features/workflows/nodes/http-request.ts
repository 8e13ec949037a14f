import { type Static, Type } from 'typebox'
import { AppError, invalid } from '#platform/errors.ts'
import { joinAddress, splitAddress } from '#platform/outbound/address-template.ts'
import {
  headerValueProblem,
  isConnectionHeader,
  isHeaderName,
  mayHoldSecret,
  requireHeaderValue,
} from '#platform/outbound/header-rules.ts'
import { type HeaderSecrets, putSecrets, takeSecrets } from '#platform/outbound/header-secrets.ts'
import { createSecretFilter } from '#platform/outbound/hide-secrets.ts'
import type { Outbound, OutboundResponse } from '#platform/outbound/outbound.ts'
import { encodeLiteralPath, encodeValue } from '#platform/outbound/percent-encoding.ts'
import { readContent } from '#platform/outbound/read-content.ts'
import { retryAfter } from '#platform/outbound/retry-after.ts'
import { parseTarget } from '#platform/outbound/target-url.ts'
import { splitTemplates, type Templates, textOf } from '#platform/templates/resolve-templates.ts'
import { type DataProblem, defineNode, maxTimeoutSeconds, nodeData } from '../engine/node-type.ts'
import { encodeRequestBody, writtenBodyProblem } from './request-body.ts'

const schema = nodeData({
  method: Type.Optional(Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'])),
  url: Type.String({ maxLength: 8_000 }),
  query: Type.Optional(Type.Record(Type.String({ maxLength: 200 }), Type.Unknown())),
  headers: Type.Optional(Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: 8_000 }))),
  body: Type.Optional(Type.Unknown()),
  fail_on_status: Type.Optional(Type.Boolean()),
})
type Data = Static<typeof schema>

const maxAnswerBytes = 1024 * 1024
/** Max characters of a response that an error repeats. */
const shownCharacters = 2_000
/** Methods that only read, and send no body. */
const readingMethods: readonly string[] = ['GET', 'HEAD']
/** Statuses below 500 that can be temporary. */
const passing: readonly number[] = [408, 425, 429]

/** Sends one request to the server that the workflow's author has named. */
export const createHttpRequest = (outbound: Outbound) =>
  defineNode(schema, {
    literal: ['url', 'headers', 'body'],
    async show({ url, headers, body }, templates) {
      const shown: Record<string, string> = {}
      for (const [name, value] of Object.entries(headers ?? {})) shown[name] = await templates.fill(value)
      const [, type] = Object.entries(shown).find(([name]) => name.toLowerCase() === 'content-type') ?? []
      const isText = typeof body === 'string'
      const content = isText ? await encodeRequestBody(body, type, templates) : undefined
      return {
        url: await addressOf({ url }, templates),
        ...(headers && { headers: shown }),
        ...(body !== undefined && { body: isText ? content?.body : await templates.resolve(body) }),
      }
    },
    problem: data => addressProblem(data) ?? headersProblem(data) ?? bodyProblem(data),
    protect(data, before, at) {
      const isSameOrigin = before !== undefined && originOf(before.data) === originOf(data)
      const keptSecrets = { secrets: before?.secrets ?? {}, isSameOrigin }
      const givenHeaders = Object.entries(data.headers ?? {})
      const { headers, secrets } = takeSecrets(givenHeaders, keptSecrets, {
        field: `${at}.headers`,
        visibleIn: templatesIn,
      })
      return { data: { ...data, ...(data.headers && { headers: Object.fromEntries(headers) }) }, secrets }
    },
    async run({ data, secrets, templates, key, signal, now }) {
      const { method = 'GET', fail_on_status = true } = data
      const givenHeaders = await headersOf(data, secrets, templates)
      const body = readingMethods.includes(method) ? null : data.body
      const content = await encodeRequestBody(body, givenHeaders['content-type'] || undefined, templates)
      const headers = {
        accept: 'application/json, */*;q=0.5',
        ...(method !== 'GET' && { 'idempotency-key': key }),
        ...givenHeaders,
        ...(content && { 'content-type': content.contentType }),
      }
      const answer = await outbound.fetch(await addressOf(data, templates), {
        method,
        headers,
        body: content?.body ?? null,
        secretHeaders: Object.keys(givenHeaders).filter(mayHoldSecret),
        maxBytes: maxAnswerBytes,
        timeoutMs: maxTimeoutSeconds * 1000,
        signal,
      })
      const output = outputOf(answer, Object.values(secrets).flatMap(secretParts))
      if (fail_on_status && answer.status >= 400) throw refusalOf(output, answer, now)
      return { output }
    },
  })

function addressProblem({ url }: Data): DataProblem | undefined {
  const address = splitAddress(url)
  const example = 'https://example.com/{{order.id}}'
  if (address === undefined) return { field: 'url', issue: `must be a full address such as ${example}` }
  if (/[{}]/.test(address.origin))
    return { field: 'url', issue: 'has a template in its scheme, host or port, where none may be' }
  const target = parseTarget(address.origin + splitTemplates(address.path + address.query).texts.join('x'))
  return target.ok ? undefined : { field: 'url', issue: target.reason }
}

function headersProblem({ headers = {} }: Data): DataProblem | undefined {
  const problems = Object.entries(headers).map(([name, value]) => {
    if (!isHeaderName(name)) return { field: 'headers', issue: `holds a name that is not valid: ${name}` }
    const issue = isConnectionHeader(name)
      ? 'belongs to the connection and must not be set'
      : headerValueProblem(splitTemplates(value).texts.join(''))
    return issue === undefined ? undefined : { field: `headers.${name}`, issue }
  })
  return problems.find(problem => problem !== undefined)
}

function bodyProblem({ method = 'GET', body = '', headers = {} }: Data): DataProblem | undefined {
  if (body === null || body === '') return undefined
  const [, type = ''] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type') ?? []
  const issue = writtenBodyProblem(body, type)
  if (issue !== undefined) return { field: 'body', issue }
  if (!readingMethods.includes(method)) return undefined
  return { field: 'body', issue: `can't be sent with ${method}: leave it out, or choose another method` }
}

function originOf({ url = '' }: Partial<Data>): string | undefined {
  return URL.parse(splitAddress(url)?.origin ?? '')?.origin
}

function templatesIn(value: string): string {
  return splitTemplates(value)
    .paths.map(path => `{{${path}}}`)
    .join('')
}

/** Fills the address. Values of templates can't change the origin or the boundary of path and query. */
async function addressOf({ method = 'GET', url, query = {} }: Data, templates: Templates): Promise<string> {
  const address = splitAddress(url)
  if (address === undefined) throw invalid('url', 'is no full address')
  const write = (value: unknown) => {
    const text = textOf(value)
    // Without the id of one thing, the address might be that of all of them.
    if (text === '' && !readingMethods.includes(method))
      throw invalid('url', `has a template without a value, which ${method} must not be sent with`)
    return encodeValue(text)
  }
  const fill = (text: string) => templates.fill(text, write, encodeAddressText)
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values]
      .flat()
      .filter(value => value !== null)
      .map(value => `${encodeValue(name)}=${encodeValue(textOf(value))}`),
  )
  const written = address.query === '' ? [] : [await fill(address.query)]
  return joinAddress(address.origin, await fill(address.path), [...written, ...pairs])
}

/** Encodes a literal text, but keeps question marks, which are ordinary characters in a query. */
function encodeAddressText(text: string): string {
  return text.split('?').map(encodeLiteralPath).join('?')
}

async function headersOf({ headers = {} }: Data, secrets: HeaderSecrets, templates: Templates) {
  const filled: [string, string][] = []
  for (const [name, value] of putSecrets(Object.entries(headers), secrets))
    filled.push([name.toLowerCase(), requireHeaderValue(`headers.${name}`, await templates.fill(value))])
  return Object.fromEntries(filled) as Record<string, string>
}

/** Returns the secret parts of a sealed header: templates are left out, as their values are shown. */
function secretParts(value: string): string[] {
  const { texts } = splitTemplates(value)
  return texts.filter(text => !/^\w+\s+$/.test(text))
}

function outputOf(answer: OutboundResponse, secrets: readonly string[]) {
  const hide = createSecretFilter(secrets)
  return {
    status: answer.status,
    headers: Object.fromEntries(
      [...answer.headers.keys()].map(name => [name, headerOf(answer.headers, name, hide)]),
    ),
    body: readContent(answer, secrets),
    url: hide(answer.url),
  }
}

/** Only cookies can't be joined by commas: several become a list. */
function headerOf(headers: Headers, name: string, hide: (text: string) => string): string | string[] {
  const cookies = name === 'set-cookie' ? headers.getSetCookie() : []
  return cookies.length > 1 ? cookies.map(hide) : hide(headers.get(name) ?? '')
}

function refusalOf(
  { status, body }: { status: number; body: unknown },
  { headers }: OutboundResponse,
  now: number,
) {
  const shown = textOf(body).slice(0, shownCharacters)
  const wait = retryAfter(headers.get('retry-after'), now)
  return new AppError('TOOL_FAILED', `The server answered with status ${status}${shown && `: ${shown}`}`, {
    isPermanent: status < 500 && !passing.includes(status),
    ...(wait !== undefined && { details: { retry_after: wait / 1000 } }),
  })
}
