import { documentOfPage, isFound } from './crawl.repository.ts'
import type { ReadPage } from './crawl.worker.ts'
import { crawlLimits } from './crawl-limits.ts'
import type { Site } from './crawl-state.ts'
import type { FetchedPage } from './fetch-page.ts'

/**
 * The canonical URL that the page names, if it may be read and is not gone. A page that is omitted keeps its own: it says
 * nothing of the other one, whose text, links and state stay as they are.
 */
export async function ownUrl(
  site: Site,
  { url }: FetchedPage,
  { canonical, omitted }: ReadPage,
  signal: AbortSignal,
): Promise<string> {
  if (canonical === undefined || canonical === url || omitted !== undefined) return url
  const [isAllowed] = await site.threads.allowed(site.rules.robots, [canonical], signal)
  if (!isAllowed) return url
  return (await isGone(site, canonical, signal)) ? url : canonical
}

/** Checked once per run, and only if no page was found there. An unclear answer is no reason to doubt the page. */
async function isGone(site: Site, address: string, signal: AbortSignal): Promise<boolean> {
  if (await isFound(site.db, site.sourceId, documentOfPage(address))) return false
  const check = site.namedAddresses.get(address) ?? checkWhetherGone(site, address, signal)
  site.namedAddresses.set(address, check)
  return await check
}

async function checkWhetherGone(
  { outbound, gates, rules }: Site,
  address: string,
  signal: AbortSignal,
): Promise<boolean> {
  const fetch = outbound.fetchFunction()
  const isGoneBy = async (method: 'HEAD' | 'GET') => {
    // Starts with the request, since waiting for the host may take longer.
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(crawlLimits.requestMs)])
    const { status, body } = await fetch(address, { method, redirect: 'manual', signal: deadline })
    await body?.cancel().catch(() => undefined)
    return status === 404 || status === 410
  }
  const { origin } = new URL(address)
  const isGone = (method: 'HEAD' | 'GET') =>
    gates.pass(origin, { pauseMs: rules.pauseMs, signal }, () => isGoneBy(method))
  try {
    // Some servers know no other method than GET.
    return (await isGone('HEAD')) && (await isGone('GET'))
  } catch {
    signal.throwIfAborted()
    return false
  }
}
