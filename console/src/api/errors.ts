import { frameText } from '#console/i18n/frame-text.ts'

/** One of several problems of a definition. */
export interface DefinitionProblem {
  /** The node with the problem. */
  node?: string
  field: string
  issue: string
}

/** An error response of the server, in any of the four shapes of errors. */
export class ApiError extends Error {
  readonly status: number
  /** The code in the catalogue of errors, such as `NOT_FOUND`. */
  readonly code: string
  /** The wrong field of the body, if one is known. */
  readonly field: string | undefined
  /** All problems, if the server names several. */
  readonly problems: readonly DefinitionProblem[]

  constructor(status: number, code: string, message: string, { field, problems = [] }: Details = {}) {
    super(message)
    this.status = status
    this.code = code
    this.field = field
    this.problems = problems
  }
}

/** The server could not be reached. */
export class Unreachable extends Error {
  constructor(options?: ErrorOptions) {
    super(frameText.current().unreachable, options)
  }
}

interface Details {
  field?: string
  problems?: readonly DefinitionProblem[]
}

interface ErrorBody {
  error?: string | { code?: string; message?: string; details?: Details }
  code?: string | number
}

export async function readError(response: Response): Promise<ApiError> {
  const { status, statusText } = response
  const text = await response.text().catch(() => '')
  try {
    const { error, code } = JSON.parse(text) as ErrorBody
    if (typeof error === 'object')
      return new ApiError(status, error.code ?? '', error.message ?? statusText, error.details)
    return new ApiError(status, String(code ?? ''), error ?? statusText)
  } catch {
    return new ApiError(status, '', text === '' ? statusText : text)
  }
}
