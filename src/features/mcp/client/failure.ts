import { AppError } from '#platform/errors.ts'
import { type Observations, UselessAnswer } from './server-fetch.ts'

/** The error of a connection, with observations that the error itself might lack. */
export class ServerFailure extends Error {
  readonly observations: Observations

  constructor(cause: unknown, observations: Observations) {
    super('The exchange with an MCP server failed.', { cause })
    this.name = 'ServerFailure'
    this.observations = observations
  }
}

/** The outcome of a failed attempt to use a server. */
export interface Failure {
  /** `disconnected`: there was no answer; `error`: the answer was unusable. */
  status: 'disconnected' | 'error'
  /** A sentence for a person, without any text of the server. */
  reason: string
  /** True if the guard refuses the address. */
  isForbidden: boolean
  /**
   * The proof that the server has not started on the request, so that a retry is safe: it was not reached, or
   * answered only by HTTP, like servers that have lost a session. Undefined if it might have started.
   */
  untouched?: 'not reached' | 'turned away'
}

/** Error codes of connections that were never established. */
const unconnected = /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|ENETUNREACH|EHOSTUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

/** Statuses of servers that do not know a session, or no longer. */
const turningAway = [400, 404, 410]

export function failureOf({ cause, observations }: ServerFailure, hasToken: boolean): Failure {
  const { refusal, trouble } = observations
  const chain = causes(cause)
  const direct = chain.find(link => link instanceof AppError)
  const known = direct ?? trouble
  if (refusal !== undefined && known?.code !== 'OUTBOUND_REFUSED')
    return wrong(refusalReason(refusal, hasToken))
  if (known !== undefined) {
    const isForbidden = known.code === 'OUTBOUND_REFUSED'
    // Earlier errors are not about this request.
    const isUnreached = causes(direct).some(link => unconnected.test(codeOf(link)))
    const status = isForbidden || known instanceof UselessAnswer ? 'error' : 'disconnected'
    const failure: Failure = { status, reason: known.message, isForbidden }
    return isUnreached ? { ...failure, untouched: 'not reached' } : failure
  }
  const httpStatus = chain.map(httpStatusOf).find(status => status !== undefined)
  if (httpStatus !== undefined) {
    const failure = wrong(statusReason(httpStatus))
    return turningAway.includes(httpStatus) ? { ...failure, untouched: 'turned away' } : failure
  }
  const codes = chain.map(codeOf)
  if (codes.includes('REQUEST_TIMEOUT') || chain.some(({ name }) => name === 'TimeoutError'))
    return { ...wrong('It did not answer in time.'), status: 'disconnected' }
  if (codes.includes('CONNECTION_CLOSED') || codes.includes('NOT_CONNECTED'))
    return { ...wrong('It closed the connection.'), status: 'disconnected' }
  return wrong('It does not speak MCP as expected: register the address of its MCP endpoint.')
}

function wrong(reason: string): Failure {
  return { status: 'error', reason, isForbidden: false }
}

function refusalReason(
  { status, wantsOauth }: NonNullable<Observations['refusal']>,
  hasToken: boolean,
): string {
  const answered = hasToken ? 'It does not accept the token' : 'It asks for credentials'
  const oauth = wantsOauth ? ' It wants OAuth, which is not supported yet.' : ''
  if (status === 403) return `It refuses access (HTTP 403).${oauth}`
  return `${answered} (HTTP 401).${oauth} Register it with a bearer token that it accepts.`
}

function statusReason(status: number): string {
  if (status >= 300 && status < 400)
    return `It redirects to another address (HTTP ${status}), which is not followed. Register that address if it is the server.`
  if (status >= 500) return `It failed (HTTP ${status}).`
  return `There is no MCP endpoint at this address (HTTP ${status}).`
}

/** Returns the HTTP status of an error of the library. */
export function httpStatusOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  if ('data' in error && typeof error.data === 'object' && error.data !== null && 'status' in error.data)
    return typeof error.data.status === 'number' ? error.data.status : undefined
  // The status of an event stream that could not be opened.
  return 'event' in error && 'code' in error && typeof error.code === 'number' && error.code >= 300
    ? error.code
    : undefined
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}

/** Returns an error and its causes, outermost first. */
function causes(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causes(error.cause)] : []
}
