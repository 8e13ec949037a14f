/** Fetches one page: follows redirects within the site, retries, and reads no more than it needs. */
import { setTimeout as delay } from 'node:timers/promises'
import type { AppError } from '#platform/errors.ts'
import { type Cookies, cookieHeader, createCookies } from '#platform/outbound/cookies.ts'
import { toOutboundError } from '#platform/outbound/outbound-failure.ts'
import { redirectLocation } from '#platform/outbound/redirect.ts'
import { readBody } from '#platform/outbound/response-body.ts'
import { retryAfter } from '#platform/outbound/retry-after.ts'
import { bareType } from '../fetching/content-format.ts'
import { crawlLimits } from './crawl-limits.ts'
import { linkUrl } from './page/page-url.ts'
import type { HostGates } from './site/host-gates.ts'

/** The outcome of a URL. `gone`: no longer a page; `skipped`: not a page for us; `failed`: unknown. */
export type Fetched = FetchedPage | { kind: 'unchanged'; url: string } | NoPage

export interface NoPage {
  kind: 'skipped' | 'gone' | 'failed'
  reason: string
  /** The address after redirects. */
  url: string
  /** The number of bytes that were read without a page. */
  bytes?: number
}

export interface FetchedPage {
  kind: 'page'
  /** The address after redirects. */
  url: string
  body: Uint8Array<ArrayBuffer>
  contentType: string
  etag: string | null
  lastModified: string | null
  robotsTag: string
  /** The reason why a browser might not have read all of it. */
  unfinished?: string | undefined
}

/** A page that a browser has rendered. */
export interface WrittenPage {
  url: string
  html: string
  /** A placeholder that it still shows; null if it has its content. */
  placeholder: string | null
}

export interface Validators {
  etag: string | null
  lastModified: string | null
}

interface Dependencies {
  fetch: typeof fetch
  gates: HostGates
  /** The min time between the starts of two requests (ms). */
  pauseMs: number
  /** The max time of one request (ms). */
  requestMs: number
  /** Returns the record of an earlier visit to this URL, to detect changes. */
  validatorsOf(url: string): Promise<Validators | undefined>
  /** Returns why a redirect to this address is not followed; undefined if it is. */
  objectionTo(url: string): Promise<string | undefined>
  signal: AbortSignal
}

type Answered =
  | Fetched
  | { kind: 'redirect'; location: string }
  | { kind: 'again'; reason: string; afterMs?: number }

export async function fetchPage(url: string, dependencies: Dependencies): Promise<Fetched> {
  const cookies = createCookies()
  const visited = new Set([url])
  let address = url
  for (;;) {
    const answer = await requestUntilAnswered(address, { ...dependencies, cookies })
    if (answer.kind !== 'redirect') return answer
    const target = linkUrl(answer.location, address)
    if (target === undefined)
      return { kind: 'skipped', url, reason: 'It redirects to an address that is no page.' }
    // With other cookies, an address might answer differently.
    const visit = [target, cookies.for(new URL(target))].join(' ').trimEnd()
    if (visited.has(visit)) return { kind: 'failed', url, reason: 'It redirects in a circle.' }
    if (visited.size > crawlLimits.redirects)
      return { kind: 'failed', url, reason: `It redirects more than ${crawlLimits.redirects} times.` }
    const objection = await dependencies.objectionTo(target)
    if (objection !== undefined) return { kind: 'skipped', url, reason: objection }
    visited.add(visit)
    address = target
  }
}

type Settled = Exclude<Answered, { kind: 'again' }>

type RequestDependencies = Dependencies & { cookies: Cookies }

async function requestUntilAnswered(url: string, dependencies: RequestDependencies): Promise<Settled> {
  const { origin } = new URL(url)
  const wait = { pauseMs: dependencies.pauseMs, signal: dependencies.signal }
  for (let attempt = 0; ; attempt += 1) {
    const answer = await dependencies.gates.pass(origin, wait, () => requestOnce(url, dependencies))
    if (answer.kind !== 'again') return answer
    const pause = crawlLimits.retryPausesMs[attempt]
    const holdMs = answer.afterMs ?? 0
    if (pause === undefined || holdMs > crawlLimits.retryAfterMs)
      return { kind: 'failed', url, reason: answer.reason }
    if (holdMs > 0) dependencies.gates.hold(origin, holdMs)
    else await delay(pause, undefined, { signal: dependencies.signal })
  }
}

async function requestOnce(url: string, dependencies: RequestDependencies): Promise<Answered> {
  const validators = await dependencies.validatorsOf(url)
  const cookie = cookieHeader(dependencies.cookies, url)
  const deadline = AbortSignal.timeout(dependencies.requestMs)
  const signal = AbortSignal.any([dependencies.signal, deadline])
  try {
    const response = await dependencies.fetch(url, {
      redirect: 'manual',
      signal,
      headers: { accept: 'text/html, application/xhtml+xml', ...conditions(validators), ...cookie },
    })
    dependencies.cookies.keep(new URL(url), response.headers)
    const answer = await readAnswer(url, response)
    if (!response.bodyUsed) await response.body?.cancel().catch(() => undefined)
    return answer
  } catch (error) {
    dependencies.signal.throwIfAborted()
    if (deadline.aborted)
      return { kind: 'failed', url, reason: `It did not arrive within ${dependencies.requestMs / 1000} s.` }
    const failure = toOutboundError(error, new URL(url).host)
    return isRefusal(failure)
      ? { kind: 'failed', url, reason: failure.message }
      : { kind: 'again', reason: failure.message }
  }
}

function isRefusal(error: AppError): boolean {
  return error.code === 'OUTBOUND_REFUSED'
}

function conditions(validators: Validators | undefined): Record<string, string> {
  const { etag, lastModified } = validators ?? { etag: null, lastModified: null }
  return {
    ...(etag !== null && { 'if-none-match': etag }),
    ...(lastModified !== null && { 'if-modified-since': lastModified }),
  }
}

async function readAnswer(url: string, response: Response): Promise<Answered> {
  const { status, headers } = response
  const location = redirectLocation(response)
  if (location !== undefined) return { kind: 'redirect', location }
  const reason = `It answered with status ${status}.`
  if (status === 304) return { kind: 'unchanged', url }
  if (status === 404 || status === 410) return { kind: 'gone', url, reason }
  if (status === 429 || status >= 500) return again(reason, headers)
  if (status < 200 || status > 299) return { kind: 'failed', url, reason }
  return await readPageBody(url, response)
}

function again(reason: string, headers: Headers): Answered {
  const afterMs = retryAfter(headers.get('retry-after'), Date.now())
  return { kind: 'again', reason, ...(afterMs !== undefined && { afterMs }) }
}

async function readPageBody(url: string, response: Response): Promise<Fetched> {
  const { headers } = response
  const contentType = headers.get('content-type') ?? ''
  const type = bareType(contentType)
  if (type !== '' && !/^(?:text\/html|application\/xhtml\+xml)$/.test(type))
    return { kind: 'skipped', url, reason: `It is no web page: its type is ${type.slice(0, 100)}.` }
  if (/^\s*attachment/i.test(headers.get('content-disposition') ?? ''))
    return { kind: 'skipped', url, reason: 'It is a download, not a web page.' }
  const tooLarge = `It is larger than ${crawlLimits.pageBytes / 1024 / 1024} MiB.`
  if (Number(headers.get('content-length') ?? 0) > crawlLimits.pageBytes)
    return { kind: 'skipped', url, reason: tooLarge }
  const body = await readBody(response.body, crawlLimits.pageBytes)
  if (body === undefined) return { kind: 'skipped', url, reason: tooLarge, bytes: crawlLimits.pageBytes }
  // Without a declared type, a body that begins like HTML is HTML.
  if (type === '' && !/^\s*</.test(new TextDecoder().decode(body.subarray(0, 1_024))))
    return { kind: 'skipped', url, reason: 'It is no web page, and does not tell its type.' }
  return {
    kind: 'page',
    url,
    body,
    contentType,
    etag: headers.get('etag'),
    lastModified: headers.get('last-modified'),
    robotsTag: headers.get('x-robots-tag') ?? '',
  }
}
