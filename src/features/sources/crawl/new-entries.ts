/** Computes the entries of visits that are settled together: exactly those of settling them one by one. */
import { countQueue, type NewEntry, unknownUrls } from './crawl.repository.ts'
import { crawlLimits } from './crawl-limits.ts'
import { disallowed, type ReadSitemap, type Settled, type Settling } from './crawl-state.ts'

/** The new links of a visit. */
interface Links {
  depth: number
  urls: readonly string[]
}

/** Returns the new links, up to the limit. */
export async function newEntries(
  site: Settling,
  settled: readonly Settled[],
  sitemap: ReadSitemap | undefined,
): Promise<NewEntry[]> {
  const { db, sourceId, maxPages } = site
  const links = await newLinks(site, settled, sitemap)
  if (links.every(({ urls }) => urls.length === 0) && sitemap === undefined) return []
  const { known, next, reported } = await countQueue(db, sourceId)
  const room = Math.max(0, crawlLimits.addresses(maxPages) - known)
  const allowed = await allowedAmong(site, links, room)
  const ofLinks = asFarAsThereIsRoom(links, allowed, {
    room,
    reportable: crawlLimits.failuresShown - reported,
  })
  const all = sitemap === undefined ? ofLinks : [{ ...sitemap.entry, depth: 0 }, ...ofLinks]
  return all.map((added, at) => ({ ...added, position: next + at }))
}

async function newLinks(
  { db, sourceId, maxDepth }: Settling,
  settled: readonly Settled[],
  sitemap: ReadSitemap | undefined,
): Promise<Links[]> {
  const leading = settled.filter(({ entry }) => entry.depth < maxDepth)
  const met = leading.map(({ entry, links }) => ({
    depth: entry.depth + 1,
    urls: [...new Set([...links, ...(sitemap?.stored.links ?? [])])],
  }))
  const unknown = new Set(await unknownUrls(db, sourceId, [...new Set(met.flatMap(({ urls }) => urls))]))
  if (sitemap !== undefined) unknown.delete(sitemap.entry.url)
  return met.map(({ depth, urls }) => ({ depth, urls: urls.filter(url => unknown.has(url)) }))
}

/** Returns the allowed links by robots.txt. Reads at most as many of a visit as there is room for. */
async function allowedAmong(
  { threads, rules, signal }: Settling,
  links: readonly Links[],
  room: number,
): Promise<Set<string>> {
  const urls = [...new Set(links.flatMap(({ urls: ofOne }) => ofOne.slice(0, room)))]
  const allowed = await threads.allowed(rules.robots, urls, signal)
  return new Set(urls.filter((_, at) => allowed[at]))
}

function asFarAsThereIsRoom(
  links: readonly Links[],
  allowed: ReadonlySet<string>,
  { room, reportable }: { room: number; reportable: number },
): Omit<NewEntry, 'position'>[] {
  const added = new Map<string, Omit<NewEntry, 'position'>>()
  let reported = 0
  for (const { depth, urls } of links) {
    // A barred address without a report takes no room from the later visits, as if they were settled later.
    for (const url of urls.filter(one => !added.has(one)).slice(0, room - added.size)) {
      if (allowed.has(url)) added.set(url, { url, depth })
      else if (reported < reportable) {
        reported += 1
        added.set(url, { url, depth, state: 'skipped', reason: disallowed })
      }
    }
  }
  return [...added.values()]
}
