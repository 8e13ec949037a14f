import { busyUntil, reportSignedOut, reportUnreachable } from './connection.ts'
import { remember } from './curl.ts'
import { readError, Unreachable } from './errors.ts'
import { parseExact } from './exact-json.ts'
import { type ApiRequest, addressOf } from './request.ts'

interface SendOptions {
  signal?: AbortSignal
  /** False for the console's internal requests, which are not worth showing as commands. */
  isShown?: boolean
  headers?: Readonly<Record<string, string>>
}

const maxAttempts = 3

/** Sends a request and returns its parsed response. Throws `ApiError`, or `Unreachable`. */
export async function send<Answer>(request: ApiRequest<Answer>, options: SendOptions = {}): Promise<Answer> {
  const response = await open(request, options)
  const isJson = response.headers.get('content-type')?.includes('json')
  const text = await response.text()
  const parse = request.isExact ? parseExact : JSON.parse
  return (isJson ? parse(text) : text) as Answer
}

/** Returns the response to a request with its body unread, for streams and files. Throws like `send`. */
export async function open(request: ApiRequest, options: SendOptions = {}): Promise<Response> {
  if (options.isShown !== false) remember(request)
  for (let attempt = 1; ; attempt += 1) {
    const response = await attemptOnce(request, options)
    if (response.ok) return response
    if (response.status === 401) reportSignedOut()
    // A read is safe to repeat; only its caller repeats a change.
    if (response.status !== 429 || request.method !== 'GET' || attempt === maxAttempts)
      throw await readError(response)
    await pause(Number(response.headers.get('retry-after') ?? 1) * 1000)
  }
}

async function attemptOnce(request: ApiRequest, { signal, headers }: SendOptions): Promise<Response> {
  const { method, body, form } = request
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
  const content = body === undefined ? form : JSON.stringify(body)
  try {
    return await fetch(addressOf(request), {
      method,
      headers: { ...type, ...headers },
      ...(content !== undefined && { body: content }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    reportUnreachable()
    throw new Unreachable({ cause: error })
  }
}

async function pause(milliseconds: number): Promise<void> {
  busyUntil.set(Date.now() + milliseconds)
  await new Promise(resolve => setTimeout(resolve, milliseconds))
  busyUntil.set(0)
}

/** Sends a form and reports the sent share, 0 to 1, which `fetch` cannot. Throws like `send`. */
export function upload<Answer>(
  request: ApiRequest<Answer>,
  onProgress: (share: number) => void,
  signal?: AbortSignal,
): Promise<Answer> {
  remember(request)
  return new Promise<Answer>((resolve, reject) => {
    const sending = new XMLHttpRequest()
    sending.open(request.method, addressOf(request))
    sending.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total)
    sending.onerror = () => {
      reportUnreachable()
      reject(new Unreachable())
    }
    sending.onabort = () => reject(new DOMException('The upload was cancelled.', 'AbortError'))
    sending.onload = () => {
      const response = new Response(sending.responseText, { status: sending.status })
      if (sending.status === 401) reportSignedOut()
      if (response.ok) resolve(JSON.parse(sending.responseText) as Answer)
      else readError(response).then(reject, reject)
    }
    signal?.addEventListener('abort', () => sending.abort(), { once: true })
    sending.send(request.form ?? null)
  })
}
