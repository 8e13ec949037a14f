import { frameText } from '#console/i18n/frame-text.ts'

/** One of several things that are wrong with a definition. */
export interface DefinitionProblem {
  /** The node that it is about. */
  node?: string
  field: string
  issue: string
}

/** An answer that is no success, from any of the four shapes of errors. */
export class ApiError extends Error {
  readonly status: number
  /** Of the catalogue, such as `NOT_FOUND`. */
  readonly code: string
  /** The field of the body that is wrong, where it is one. */
  readonly field: string | undefined
  /** Where the server names several. */
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
