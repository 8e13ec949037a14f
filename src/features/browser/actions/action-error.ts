import { AppError, invalid } from '#platform/errors.ts'

/** Returns the first line of a Playwright error, without the called function's name. */
export function firstLine(error: Error): string {
  const line = error.message.split('\n')[0] ?? ''
  return line.replace(/^[a-zA-Z]+\.[a-zA-Z]+: /, '').slice(0, 500)
}

/** Mistakes of the caller that only the page reveals. */
const mistakes: readonly [message: RegExp, field: string, issue: string][] = [
  [/ERR_UNSAFE_PORT/, 'url', 'has a port that browsers open no pages on'],
  [/Unknown key: /, 'key', 'is not the name of a key, such as Enter, a or Control+A'],
  [
    /not an <input>|not a <textarea>|Cannot type text into|can not be filled|cannot be filled/i,
    'selector',
    'is no field that text can be typed into',
  ],
  [
    /not a <select>/i,
    'selector',
    'is no field with options; of one that is drawn by the page, click it and then an option',
  ],
  [/Non-multiple file input/, 'files', 'are too many: this field takes one file'],
  [
    /Node is not an HTMLInputElement|not an input\[type=file\]|File(?:s)? can be set only/i,
    'selector',
    'is no field for files',
  ],
  [
    /Element is not a multiple select|options? .*single select/i,
    'values',
    'are too many: this field takes one',
  ],
  [/buffers? (?:larger|>)/i, 'files', 'are too large for this browser'],
]

/** Descriptions of common failures to reach a page, by Chromium's name for them. */
const failures: Record<string, string> = {
  ERR_NAME_NOT_RESOLVED: 'its host is not known',
  ERR_CONNECTION_REFUSED: 'its host refused the connection',
  ERR_CONNECTION_RESET: 'its host ended the connection',
  ERR_EMPTY_RESPONSE: 'its host answered nothing',
  ERR_TUNNEL_CONNECTION_FAILED: 'its host could not be reached',
  ERR_TOO_MANY_REDIRECTS: 'it redirects in a circle',
  ERR_ABORTED:
    'it was not opened: it holds nothing to show, or the page before it asked whether to leave it and stayed',
}

interface Circumstances {
  /** The words after "waited for". */
  waited: string
  /** Milliseconds. */
  timeout: number
  /** The obstacle. */
  reason?: string
}

/** Converts an error of Playwright into the error for the caller. */
export function actionError(error: unknown, circumstances: Circumstances): AppError {
  if (error instanceof AppError) return error
  const known = error instanceof Error ? error : new Error(String(error))
  if (known.name === 'TimeoutError') return timedOut({ ...circumstances, reason: reasonIn(known.message) })
  for (const [message, field, issue] of mistakes)
    if (message.test(known.message)) return invalid(field, issue)
  const code = /net::(ERR_\w+)/.exec(known.message)?.[1]
  if (code !== undefined)
    return failed(`The page could not be opened: ${failures[code] ?? `the browser says ${code}`}.`, known)
  if (/interrupted by another navigation/.test(known.message))
    return failed('The page went to another address before this one was there.', known)
  if (/has been closed|was closed|detached|crashed/i.test(known.message))
    return failed('The tab was closed, or left for another page, while this was done.', known)
  return failed(`In the page: ${firstLine(known)}`, known)
}

export function timedOut({ waited, timeout, reason }: Circumstances): AppError {
  return new AppError(
    'ACTION_TIMEOUT',
    `Waited ${timeout} ms in vain for ${waited}.${reason ? ` ${reason}` : ''}`,
  )
}

function failed(message: string, cause: Error): AppError {
  return new AppError('BROWSER_FAILED', message, { cause })
}

/** Returns the last obstacle in Playwright's log, such as an element that covers the target. */
function reasonIn(message: string): string {
  const obstacles = message.match(
    /element is not [\w ]+|<[^>]{1,200}>[^\n]{0,100}intercepts pointer events|did not find some options|element is outside of the viewport/g,
  )
  const last = obstacles?.at(-1)
  return last === undefined ? '' : `The last obstacle: ${last}.`
}
