/** Fetches files of a site that are not pages, robots.txt and sitemaps: like pages, up to a limit. */
import { type Cookies, cookieHeader, createCookies } from '#platform/outbound/cookies.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import { outboundFailed, toOutboundError } from '#platform/outbound/outbound-failure.ts'
import { redirectLocation } from '#platform/outbound/redirect.ts'
import { readBeginning } from '#platform/outbound/response-body.ts'
import { crawlLimits } from '../crawl-limits.ts'
import { isSameOrigin, pageUrl } from '../page/page-url.ts'
import type { HostGates } from './host-gates.ts'

export interface SiteFile {
  status: number
  headers: Headers
  /** The body up to `maxBytes`. */
  body: Uint8Array<ArrayBuffer>
}

interface Dependencies {
  outbound: Pick<Outbound, 'fetchFunction'>
  gates: HostGates
  /** The min time between the starts of two requests (ms). */
  pauseMs: number
  maxBytes: number
  /** True if redirects to other sites are allowed. */
  mayLeave: boolean
  signal: AbortSignal
}

/** Reads a file. @throws AppError if no answer came. */
export async function readSiteFile(address: string, dependencies: Dependencies): Promise<SiteFile> {
  const wait = { pauseMs: dependencies.pauseMs, signal: dependencies.signal }
  const cookies = createCookies()
  let url = address
  for (let redirects = 0; ; redirects += 1) {
    const { origin, host } = new URL(url)
    const answer = await dependencies.gates.pass(origin, wait, () =>
      request(url, { ...dependencies, cookies }),
    )
    if (answer.location === undefined) return answer
    const target = pageUrl(answer.location, url)
    if (target === undefined) throw outboundFailed(host, 'it redirects to an unusable address')
    if (redirects === crawlLimits.redirects)
      throw outboundFailed(host, `it redirects more than ${crawlLimits.redirects} times`)
    if (!dependencies.mayLeave && !isSameOrigin(target, address))
      throw outboundFailed(host, 'it redirects to another site')
    url = target
  }
}

async function request(
  url: string,
  { outbound, maxBytes, cookies, signal }: Dependencies & { cookies: Cookies },
): Promise<SiteFile & { location: string | undefined }> {
  const { host } = new URL(url)
  const deadline = AbortSignal.timeout(crawlLimits.requestMs)
  try {
    const response = await outbound.fetchFunction()(url, {
      redirect: 'manual',
      headers: cookieHeader(cookies, url),
      signal: AbortSignal.any([signal, deadline]),
    })
    cookies.keep(new URL(url), response.headers)
    const { status, headers } = response
    const location = redirectLocation(response)
    if (location === undefined)
      return { status, headers, location, body: (await readBeginning(response.body, maxBytes)).body }
    await response.body?.cancel().catch(() => undefined)
    return { status, headers, location, body: new Uint8Array() }
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.aborted)
      throw outboundFailed(host, `no whole answer came within ${crawlLimits.requestMs / 1000} s`)
    throw toOutboundError(error, host)
  }
}
