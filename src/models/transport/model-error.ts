import { AppError, type ErrorCode } from '#platform/errors.ts'
import { filteredEnd, kindByWords, noSuchModel, statusOfMessage } from './error-words.ts'

/** The model that failed, for the error message, and the removal of its credentials from logs. */
export interface FailedModel {
  provider: string
  modelId: string
  /** True for an embedding model, false for a chat model. */
  isEmbedding?: boolean
  withoutSecrets?(text: string): string
}

/** The facts of a foreign error of any class: providers throw, wrap and stream errors of several shapes. */
export interface Failure {
  name: string
  message: string
  /** The HTTP status, or the equivalent of the provider's error code; undefined without an answer. */
  status: number | undefined
  /** Code, type and message of the provider's error body: evidence, never forwarded. */
  evidence: string
  /** True if the body was a web page: then the refusal came from a proxy before the provider. */
  isPage: boolean
  /** True if the same call might soon succeed. */
  retryable: boolean
  /** The provider's Retry-After: seconds or an HTTP date. */
  retryAfter: string | undefined
}

type Kind =
  | 'unknown-model'
  | 'refused-key'
  | 'used-up'
  | 'rate-limit'
  | 'too-long'
  | 'no-images'
  | 'no-tools'
  | 'unmet-policy'
  | 'filtered'
  | 'empty'
  | 'refused-request'
  | 'wrong-address'
  | 'unavailable'
  | 'unreachable'
  | 'unreadable'
  | 'broken-off'

const sentences: Record<Kind, (model: FailedModel) => string> = {
  'unknown-model': ({ provider, modelId }) =>
    `The provider "${provider}" has no model "${shortened(modelId, 200)}": choose one that chat/models lists.`,
  'refused-key': ({ provider }) =>
    `The model provider "${provider}" refused the configured key: check it in the agent's settings or on the server.`,
  'used-up': ({ provider }) =>
    `The model provider "${provider}" refuses because the account's credit or quota is used up.`,
  'rate-limit': ({ provider }) => `The model provider "${provider}" is rate limiting: try again in a moment.`,
  'too-long': ({ modelId, isEmbedding }) =>
    isEmbedding
      ? `A passage is too long for the model "${shortened(modelId, 200)}": choose a smaller chunk_size, or a model with a larger context window.`
      : `The conversation is too long for the model "${shortened(modelId, 200)}": begin a new one, or choose a model with a larger context window.`,
  'no-images': ({ modelId }) =>
    `The model "${shortened(modelId, 200)}" can't see images: choose one that can (supportsImages in chat/models) and answer the message again, or send it without them.`,
  'no-tools': ({ modelId }) =>
    `The model "${shortened(modelId, 200)}" takes no tools: set the agent's llm_tools to off, or choose a model that does.`,
  'unmet-policy': ({ provider, modelId }) =>
    `The model provider "${provider}" has no host of the model "${shortened(modelId, 200)}" that meets the account's data policy or limits of routing: change these there, or choose another model.`,
  filtered: ({ provider }) =>
    `The content filter of the model provider "${provider}" refused the question or its answer: phrase it otherwise.`,
  empty: ({ modelId }) =>
    `The model "${shortened(modelId, 200)}" gave an empty answer: try again, choose another model, or one with a larger context window.`,
  'refused-request': ({ provider }) => `The model provider "${provider}" refused the request.`,
  'wrong-address': ({ provider }) =>
    provider.startsWith('openai')
      ? `The configured address of the model provider "${provider}" is no OpenAI-compatible API (did you leave out /v1?): check its base URL.`
      : `The configured address of the model provider "${provider}" does not answer as one: check its base URL.`,
  unavailable: ({ provider }) => `The model provider "${provider}" is failing: try again in a moment.`,
  unreachable: ({ provider }) => `The model provider "${provider}" can't be reached.`,
  unreadable: ({ provider }) => `The model provider "${provider}" sent an answer that can't be read.`,
  'broken-off': ({ provider }) => `The answer of the model provider "${provider}" broke off.`,
}

/**
 * Returns the error for callers: MODEL_UNKNOWN (400) if the provider has no such model, IMAGES_UNSUPPORTED
 * (400) if it takes no images, else MODEL_ERROR (500). The message contains no text of the provider; the
 * cause is a shortened trace for the log, without keys. An error of the service itself, such as the outbound
 * guard's refusal, is passed on unchanged.
 */
export function modelError(error: unknown, model: FailedModel): AppError {
  const ours = findAppError(error)
  if (ours !== undefined) return ours
  const failure = readFailure(error)
  const kind = kindOf(failure, model)
  return new AppError(codes[kind] ?? 'MODEL_ERROR', sentences[kind](model), {
    cause: safeCause(failure, kind, model),
    isPermanent: refusals.has(kind) && !failure.retryable,
  })
}

const codes: Partial<Record<Kind, ErrorCode>> = {
  'unknown-model': 'MODEL_UNKNOWN',
  'no-images': 'IMAGES_UNSUPPORTED',
}

/**
 * Errors that the provider would repeat until the key, the account or the question changes. An answer from
 * elsewhere can be temporary: a proxy has no provider behind it during a replacement.
 */
const refusals: ReadonlySet<Kind> = new Set<Kind>([
  'unknown-model',
  'refused-key',
  'used-up',
  'too-long',
  'no-images',
  'no-tools',
  'unmet-policy',
  'filtered',
  'refused-request',
])

/** Returns the error of a stream that ended without being marked as complete. */
export function brokenOff(model: FailedModel): AppError {
  return new AppError('MODEL_ERROR', sentences['broken-off'](model))
}

export function readFailure(error: unknown): Failure {
  const data = field(error, 'data')
  const errorBody = field(data, 'error') ?? data ?? error
  const [code, type] = [field(errorBody, 'code'), field(errorBody, 'type')]
  const message = text(field(error, 'message'))
  const status =
    httpStatus(field(error, 'statusCode')) ??
    httpStatus(code) ??
    httpStatus(field(errorBody, 'status')) ??
    statusOfWords(`${code} ${type}`) ??
    (error instanceof Error ? undefined : statusOfMessage(message))
  const body = text(field(error, 'responseBody')).slice(0, 2000)
  const raw = text(field(field(errorBody, 'metadata'), 'raw')).slice(0, 2000)
  const evidence = [code, type, field(errorBody, 'status'), message, raw, body].map(text).join(' ')
  const passing = (field(error, 'isRetryable') ?? isPassing(status)) === true
  const isForGood = evidence.includes('insufficient_quota') || kindByWords(evidence) !== undefined
  return {
    name: text(field(error, 'name')) || 'Error',
    message,
    status,
    evidence,
    isPage: /^\s*<(!doctype|html)/i.test(body),
    retryable: passing && !isForGood && findAppError(error) === undefined,
    retryAfter: text(field(field(error, 'responseHeaders'), 'retry-after')) || undefined,
  }
}

/** True if a refusal only shows that the request is to blame. */
export function isRefusedRequest(failure: Failure, model: FailedModel): boolean {
  return kindOf(failure, model) === 'refused-request'
}

/** True if the model refuses the request because of its images. */
export function takesNoImages(error: unknown): boolean {
  return kindByWords(readFailure(error).evidence) === 'no-images'
}

const aboutFormat =
  /response_?(format|(json_?)?schema|mime_?type)|json[_ ](schema|object)|output_(config|format)|text\.format|grammar/i

/** True if the server refuses the request because of its response format. */
export function refusesFormat(error: unknown): boolean {
  const { name, status, evidence } = readFailure(error)
  if (name.includes('UnsupportedFunctionality')) return true
  return (status === 400 || status === 422) && aboutFormat.test(evidence)
}

/** Matches an answer that mentions a model for another reason, such as a page about models. */
const noSuchPath = /invalid url|unexpected endpoint|<html|<!doctype|cannot (post|get)/i
const tooLong = /context[ _](length|window)|too long|too many (input )?tokens|token (count|limit)/i

function kindOf({ name, message, status, evidence, isPage }: Failure, { modelId }: FailedModel): Kind {
  if (/JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody/.test(name)) return 'unreadable'
  if (name === 'EmptyAnswer') return filteredEnd.test(message) ? 'filtered' : 'empty'
  const worded = isPage || (status !== undefined && status < 400) ? undefined : kindByWords(evidence)
  if (worded !== undefined) return worded
  if (status === undefined) return /API/.test(name) ? 'unreachable' : 'unavailable'
  if (status < 400) return /JSON/.test(message) ? 'unreadable' : 'broken-off'
  if (status >= 500) return 'unavailable'
  if (isPage && (status === 400 || status === 403)) return 'wrong-address'
  return kindOfRefusal(status, evidence, modelId)
}

function kindOfRefusal(status: number, evidence: string, modelId: string): Kind {
  if (/model_not_found/.test(evidence)) return 'unknown-model'
  if (status === 401 || status === 403 || /api key not valid/i.test(evidence)) return 'refused-key'
  if (status === 402 || /insufficient_quota/.test(evidence)) return 'used-up'
  if (status === 429) return 'rate-limit'
  if (status === 404) {
    const isAboutModel = /model/i.test(evidence) || evidence.includes(modelId)
    return isAboutModel && !noSuchPath.test(evidence) ? 'unknown-model' : 'wrong-address'
  }
  if (noSuchModel.test(evidence)) return 'unknown-model'
  return status === 413 || tooLong.test(evidence) ? 'too-long' : 'refused-request'
}

/** Returns the status that providers express in words within a stream, where there is no HTTP status. */
function statusOfWords(words: string): number | undefined {
  if (/rate_limit|insufficient_quota|RESOURCE_EXHAUSTED/.test(words)) return 429
  if (/overloaded|UNAVAILABLE/.test(words)) return 503
  if (/server_error|api_error|internal/i.test(words)) return 500
  if (/authentication|api_key|unauthorized/i.test(words)) return 401
  if (/permission|forbidden/i.test(words)) return 403
  if (/insufficient_(credits|balance|funds)|payment_required|billing/i.test(words)) return 402
  if (/not_found/i.test(words)) return 404
  return /invalid|bad_request|context_length|unsupported/.test(words) ? 400 : undefined
}

function isPassing(status: number | undefined): boolean {
  return status !== undefined && ([408, 409, 429].includes(status) || status >= 500)
}

/** Returns the cause for the log. A refused key's message is not quoted: some providers repeat the key. */
function safeCause(failure: Failure, kind: Kind, { withoutSecrets }: FailedModel): Record<string, unknown> {
  const { name, status } = failure
  const message =
    kind === 'refused-key' ? '' : shortened(withoutSecrets?.(failure.message) ?? failure.message, 300)
  return { name, statusCode: status, message }
}

/** Finds an error of the service itself, even if a provider package has wrapped it several times. */
function findAppError(error: unknown, depth = 0): AppError | undefined {
  if (error instanceof AppError) return error
  return error instanceof Error && depth < 6 ? findAppError(error.cause, depth + 1) : undefined
}

function httpStatus(code: unknown): number | undefined {
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code
  return typeof status === 'number' && status >= 200 && status <= 599 ? status : undefined
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function shortened(value: string, length: number): string {
  return value.length > length ? `${value.slice(0, length)}…` : value
}
