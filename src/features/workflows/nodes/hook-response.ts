import { type Static, Type } from 'typebox'
import { invalid } from '#platform/errors.ts'
import { headerValueProblem, isHeaderName } from '#platform/outbound/header-rules.ts'
import { splitTemplates, type Templates } from '#platform/templates/resolve-templates.ts'

/** The response of a hook, written by the workflow's author; its texts can contain templates. */
export const hookResponseSchema = Type.Object(
  {
    status: Type.Optional(Type.Unknown()),
    headers: Type.Optional(Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: 8_000 }))),
    body: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)
export type HookResponse = Static<typeof hookResponseSchema>

export interface HookAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer | undefined
}

const plainHeaders = ['content-type', 'location', 'cache-control']
/** Headers that control proxies and browsers, or that the server sets itself. */
const commandingHeaders =
  /^x-(?:accel|sendfile|lighttpd|litespeed|reproxy|forwarded|real|original|rewrite|http|frame|content|xss|webkit|ua|dns|download|permitted|sourcemap|request-id|ratelimit)/
/** Statuses of responses without a body. */
const bodiless: readonly number[] = [204, 205, 304]

/** Returns the problem of a response to save, with templates left unchecked. */
export function hookResponseProblem({ status, headers = {} }: HookResponse) {
  const isTemplate = typeof status === 'string' && splitTemplates(status).texts.join('').trim() === ''
  if (status !== undefined && !isTemplate && !isStatus(status))
    return { field: 'status', issue: 'must be a whole number from 200 to 599' }
  const problems = Object.entries(headers).map(([name, value]) => {
    const field = `headers.${name}`
    if (!isAllowed(name))
      return {
        field,
        issue: `must not be set: only ${plainHeaders.join(', ')} and harmless x- headers may be`,
      }
    const isTwice = Object.keys(headers).some(other => other !== name && isSameName(other, name))
    const issue = isTwice
      ? 'is there twice'
      : valueProblem(name, asSent(name, splitTemplates(value).texts.join('/')))
    return issue === undefined ? undefined : { field, issue }
  })
  return problems.find(problem => problem !== undefined)
}

/** @throws AppError VALIDATION_ERROR for values of templates that can't be sent */
export async function resolveHookResponse(
  { status = 200, headers = {}, body = null }: HookResponse,
  templates: Templates,
): Promise<HookAnswer> {
  const resolved = Number(await templates.resolve(status))
  if (!isStatus(resolved)) throw invalid('response.status', 'must be a whole number from 200 to 599')
  const filled: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const sentValue = asSent(name, await templates.fill(value))
    const issue = valueProblem(name, sentValue)
    if (issue !== undefined) throw invalid(`response.headers.${name}`, issue)
    filled[name.toLowerCase()] = sentValue
  }
  const isText = typeof body === 'string'
  const givenType = filled['content-type'] ?? (isText ? 'text/plain' : jsonType)
  // Browsers would otherwise assume another character set.
  const type = /^text\/[^;]*$/i.test(givenType) ? `${givenType}; charset=utf-8` : givenType
  if (body === null || bodiless.includes(resolved))
    return { status: resolved, headers: filled, body: undefined }
  const fillText = (text: string) => (isJsonType(type) ? templates.fillJson(text) : templates.fill(text))
  const text = isText ? await fillText(body) : JSON.stringify(await templates.resolve(body))
  return { status: resolved, headers: { ...filled, 'content-type': type }, body: Buffer.from(text) }
}

const jsonType = 'application/json; charset=utf-8'

/** @param json the output. */
export function hookOutput(json: string): HookAnswer {
  return { status: 200, headers: { 'content-type': jsonType }, body: Buffer.from(json) }
}

function isJsonType(type: string): boolean {
  return /^[^;]*[/+]json\s*(?:;|$)/i.test(type)
}

function isStatus(status: unknown): boolean {
  return Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599
}

/** Encodes blanks and letters beyond ASCII, which addresses must not contain. */
function asSent(name: string, value: string): string {
  const text = value.trim()
  return isSameName(name, 'location') ? text.replace(/[ \u0080-\u{10ffff}]+/gu, encodeURI) : text
}

/** @param value the header's value, whose templates can be replaced by slashes. */
function valueProblem(name: string, value: string): string | undefined {
  const charset = /;\s*charset\s*=\s*"?([\w-]+)/i.exec(value)?.[1] ?? 'utf-8'
  if (isSameName(name, 'content-type') && !/^utf-?8$/i.test(charset))
    return 'must have the character set utf-8, in which answers are sent'
  if (isSameName(name, 'location') && /^(?!https?:)[a-z][a-z\d+.-]*:/i.test(value.replaceAll('\t', '')))
    return 'must be a path, or an address that begins with http: or https:'
  return headerValueProblem(value)
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function isAllowed(name: string): boolean {
  const lower = name.toLowerCase()
  if (!isHeaderName(name)) return false
  return plainHeaders.includes(lower) || (lower.startsWith('x-') && !commandingHeaders.test(lower))
}
