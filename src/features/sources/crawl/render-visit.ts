import { AppError } from '#platform/errors.ts'
import type { ReadPage } from './crawl.worker.ts'
import { crawlLimits } from './crawl-limits.ts'
import type { Site } from './crawl-state.ts'
import type { FetchedPage, NoPage, WrittenPage } from './fetch-page.ts'

/** Returns the page once its scripts have run. Throws AppError. */
export type RenderPage = (
  agentId: string,
  url: string,
  options: { signal: AbortSignal },
) => Promise<WrittenPage>

/**
 * Renders a page if the crawl requires it; undefined if the page stays as it was sent, also under `auto` if
 * no browser can render it.
 */
export async function renderVisit(
  site: Site,
  fetched: FetchedPage,
  { isShell }: ReadPage,
  signal: AbortSignal,
): Promise<FetchedPage | NoPage | undefined> {
  const { render, gates, rules, traffic } = site
  if (render === 'never' || (render === 'auto' && !isShell)) return undefined
  try {
    const wait = { pauseMs: rules.pauseMs, signal }
    const page = await gates.pass(new URL(fetched.url).origin, wait, () =>
      site.renderPage(fetched.url, signal),
    )
    const body = new TextEncoder().encode(page.html)
    traffic.bytes += body.length
    if (body.length > crawlLimits.pageBytes)
      return { kind: 'skipped', url: fetched.url, reason: 'Its scripts make it too large.' }
    const contentType = 'text/html; charset=utf-8'
    const unfinished =
      page.placeholder === null ? undefined : `Within 10 s its scripts wrote ${page.placeholder}.`
    // Validators of the sent page are useless for the content that its scripts write.
    return { ...fetched, url: page.url, body, contentType, etag: null, lastModified: null, unfinished }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof AppError)) throw error
    return render === 'auto' ? undefined : { kind: 'failed', url: fetched.url, reason: error.message }
  }
}
