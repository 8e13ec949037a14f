import { AppError } from '#platform/errors.ts'
import { createSecretFilter } from '#platform/outbound/hide-secrets.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import { readContent } from '#platform/outbound/read-content.ts'
import { buildHttpRequest } from './build-request.ts'
import type { Arguments, Credentials, HttpConfiguration } from './http-configuration.ts'

const limits = { timeoutMs: 30_000, maxBytes: 1024 * 1024 }
/** Maximum length of a reported refusal, in characters. */
const shownCharacters = 2000

interface HttpCall {
  /** The configuration with its secrets. */
  configuration: HttpConfiguration
  credentials: Credentials
  /** Values that must not appear in a result, wherever the called service puts them. */
  secrets: readonly string[]
}

/**
 * Sends the request of a tool of type `http`, and reads the response for a model.
 * @throws AppError `VALIDATION_ERROR` for arguments that have no place, `TOOL_FAILED` for an error response,
 * and errors of the outbound guard.
 */
export function createHttpCall(outbound: Outbound) {
  return async ({ configuration, credentials, secrets }: HttpCall, given: Arguments, signal: AbortSignal) => {
    const request = buildHttpRequest(configuration, given, credentials)
    const { url, method, headers, body, secretHeaders, missingCredentials } = request
    const answer = await outbound.fetch(url, { ...limits, method, headers, body, secretHeaders, signal })
    const content = readContent(answer, secrets)
    const next = nextSteps(answer.headers, createSecretFilter(secrets))
    if (answer.status < 400)
      return {
        status: answer.status,
        ...(next.length === 0 ? {} : { headers: Object.fromEntries(next) }),
        body: content,
      }
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    throw new AppError(
      'TOOL_FAILED',
      `The service answered with status ${answer.status}${hint(answer.status, missingCredentials)}${next.map(([name, value]) => `, ${name}: ${value}`).join('')}: ${text.slice(0, shownCharacters)}`,
    )
  }
}

/** Returns the headers that describe the next step. */
function nextSteps(headers: Headers, hide: (text: string) => string): [string, string][] {
  return ['location', 'link', 'retry-after'].flatMap(name => {
    const value = headers.get(name)
    return value === null ? [] : [[name, hide(value).slice(0, shownCharacters)] satisfies [string, string]]
  })
}

export type HttpCaller = ReturnType<typeof createHttpCall>

function hint(status: number, missing: readonly string[]): string {
  if (missing.length === 0 || (status !== 401 && status !== 403)) return ''
  return ` (nobody has filled in the credential ${missing.join(' and ')})`
}
