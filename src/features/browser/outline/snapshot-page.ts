import type { Page } from 'playwright-core'
import { nearestIn, read } from '../in-page/read.ts'
import type { SnapshotNode } from './snapshot.ts'
import { findUsable, markUsable } from './usable.ts'

/** Max parts of a page that are described at once: elements, and the characters that count as one element. */
const most = { weight: 2000, characters: 100 }
/** Min weight of a frame, however small its part of the page is. */
const least = 100
/** Max frames of a large page. */
const maxFrames = 20
/** Max time in which a frame reports its size (ms). */
const answersWithinMs = 5000

export interface PageSnapshot {
  nodes: SnapshotNode[]
  /** True if only the parts nearest to the window are included. */
  isPart: boolean
}

interface Part {
  find?: string | undefined
  ref?: string | undefined
}

/** Describes a page; a large page by the parts nearest to the window, those with a text, or one element. */
export async function snapshotPage(page: Page, part: Part): Promise<PageSnapshot> {
  const { nodes, isPart } = await describe(page, part)
  return { nodes: markUsable(nodes, await findUsable(page)), isPart }
}

async function describe(page: Page, { find = '', ref }: Part): Promise<PageSnapshot> {
  const options = { mode: 'ai', boxes: true } as const
  const frames = page.frames()
  const weighing = frames
    .slice(0, maxFrames)
    .map(frame => read(frame, 'weight', most.characters, answersWithinMs))
  const weights = await Promise.all(weighing.map(weight => weight.catch(() => 0)))
  const weight = weights.reduce((sum, one) => sum + one, 0)
  if (weight <= most.weight && frames.length <= maxFrames)
    return { nodes: (await page.ariaSnapshotJSON(options)) as unknown as SnapshotNode[], isPart: false }
  const wanted = { ...most, phrase: find.toLowerCase() }
  if (ref !== undefined) {
    const part = nearestIn(page.locator(`aria-ref=${ref}`), wanted)
    return { nodes: (await part.ariaSnapshotJSON(options)) as unknown as SnapshotNode[], isPart: true }
  }
  const shares = weights.map(one => ({ ...wanted, weight: Math.max(least, (most.weight * one) / weight) }))
  const parts = shares.map(async (share, at) => {
    const frame = frames[at] ?? page.mainFrame()
    const nodes = nearestIn(frame, share).ariaSnapshotJSON(options) as unknown as Promise<SnapshotNode[]>
    const children = await nodes.catch(() => [])
    return at === 0 ? children : [{ role: 'iframe', name: frame.name(), children }]
  })
  return { nodes: (await Promise.all(parts)).flat(), isPart: true }
}
