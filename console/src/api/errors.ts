/** An answer that is no success, from any of the four shapes of errors. */
export class ApiError extends Error {
  readonly status: number
  /** Of the catalogue, such as `NOT_FOUND`. */
  readonly code: string
  /** The field of the body that is wrong, where it is one. */
  readonly field: string | undefined

  constructor(status: number, code: string, message: string, field?: string) {
    super(message)
    this.status = status
    this.code = code
    this.field = field
  }
}

/** The server could not be reached. */
export class Unreachable extends Error {}

interface ErrorBody {
  error?: string | { code?: string; message?: string; details?: { field?: string; issue?: string } }
  code?: string | number
}

export async function readError(response: Response): Promise<ApiError> {
  const { status, statusText } = response
  const text = await response.text().catch(() => '')
  try {
    const { error, code } = JSON.parse(text) as ErrorBody
    if (typeof error === 'object')
      return new ApiError(status, error.code ?? '', error.message ?? statusText, error.details?.field)
    return new ApiError(status, String(code ?? ''), error ?? statusText)
  } catch {
    return new ApiError(status, '', text === '' ? statusText : text)
  }
}
