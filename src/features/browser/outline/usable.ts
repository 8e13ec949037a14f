import { setTimeout as delay } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'
import { collectUsable, createJudge, type Usable, type UsableLimits } from '../in-page/usable.ts'
import type { SnapshotNode } from './snapshot.ts'

const limits: UsableLimits = { elements: 5000, found: 2000, characters: 60, descendants: 50 }
const maxFrames = 20
const maxHandlers = 1000
/** Max listeners in the page's process; above it, handlers are ignored. */
const maxListeners = 20_000
/** Max wait (ms); an outline without these elements is better than none. */
const answersWithinMs = 2000
/** The world of Playwright's functions, which hold the references of elements. */
const world = '__playwright_utility_world_'
const clicks = /^(?:(?:dbl)?click|(?:mouse|pointer)(?:down|up)|touchstart)$/

interface Worlds {
  /** Execution contexts. */
  playwright?: number
  page?: number
}

/** Finds elements that a person can use although no role shows it, without other processes' frames. */
export async function findUsable(page: Page): Promise<Usable[]> {
  const session = page.context().newCDPSession(page)
  const finding = session.then(findIn).catch(() => [])
  const found = await Promise.race([finding, delay(answersWithinMs, [], { ref: false })])
  session.then(cdp => cdp.detach()).catch(() => {})
  return found
}

async function findIn(cdp: CDPSession): Promise<Usable[]> {
  const frames = new Map<string, Worlds>()
  cdp.on('Runtime.executionContextCreated', ({ context: { id, name, auxData } }) => {
    const { frameId = '', isDefault = false } = (auxData ?? {}) as { frameId?: string; isDefault?: boolean }
    const known = frames.get(frameId) ?? {}
    if (isDefault) frames.set(frameId, { ...known, page: id })
    else if (name.startsWith(world)) frames.set(frameId, { ...known, playwright: id })
  })
  await cdp.send('Runtime.enable')
  const finding = [...frames.values()]
    .slice(0, maxFrames)
    .map(frame => findInFrame(cdp, frame).catch(() => []))
  return (await Promise.all(finding)).flat()
}

const collect = `function (limits, ...handling) {
  return (${collectUsable})(limits, (${createJudge})(limits.descendants, handling))
}`

async function findInFrame(
  cdp: CDPSession,
  { playwright: executionContextId, page }: Worlds,
): Promise<Usable[]> {
  if (executionContextId === undefined) return []
  const measure = { expression: `document.querySelectorAll('*').length`, contextId: executionContextId }
  const isLarge = (await cdp.send('Runtime.evaluate', measure)).result.value > limits.elements
  const handling =
    isLarge || page === undefined ? [] : await handlersIn(cdp, page, executionContextId).catch(() => [])
  const { result } = await cdp.send('Runtime.callFunctionOn', {
    functionDeclaration: collect,
    executionContextId,
    arguments: [{ value: limits }, ...handling],
    returnByValue: true,
  })
  return result.value ?? []
}

/** Returns elements with click handlers, which Chromium compiles only for the page's own world. */
async function handlersIn(cdp: CDPSession, page: number, executionContextId: number) {
  if ((await cdp.send('Memory.getDOMCounters')).jsEventListeners > maxListeners) return []
  const document = { expression: 'document', contextId: page }
  const { objectId = '' } = (await cdp.send('Runtime.evaluate', document)).result
  const { listeners } = await cdp.send('DOMDebugger.getEventListeners', { objectId, depth: -1, pierce: true })
  const nodes = new Set(
    listeners.flatMap(({ type, backendNodeId }) => (clicks.test(type) && backendNodeId) || []),
  )
  const resolving = [...nodes].slice(0, maxHandlers).map(async backendNodeId => {
    const { object } = await cdp.send('DOM.resolveNode', { backendNodeId, executionContextId })
    return object.objectId === undefined ? [] : [{ objectId: object.objectId }]
  })
  // Objects of other frames are resolved in those frames.
  return (await Promise.all(resolving.map(one => one.catch(() => [])))).flat()
}

/** Marks usable elements in the description of a page; adds missing ones to the elements around them. */
export function markUsable(nodes: readonly SnapshotNode[], found: readonly Usable[]): SnapshotNode[] {
  const known = new Map<string, SnapshotNode>()
  const visit = (node: SnapshotNode): void => {
    if (node.ref !== undefined) known.set(node.ref, node)
    for (const child of node.children ?? []) if (typeof child !== 'string') visit(child)
  }
  nodes.forEach(visit)
  const all = [...nodes]
  for (const { refs, around, number, role, name, checked, expanded, box } of found) {
    const states = { isUsable: true, ...(checked && { checked }), ...(expanded && { expanded }) }
    const node = refs.map(ref => known.get(ref)).find(one => one !== undefined)
    if (node !== undefined) {
      const named = { role, name: node.name ?? (node.text ? '' : name) }
      Object.assign(node, states, node.role === 'generic' && named)
      continue
    }
    const near = around.find(ref => known.has(ref)) ?? around.at(-1)
    if (near === undefined) continue
    const added = { role, name, ref: `${near}u${number}`, box, ...states }
    const parent = known.get(near)
    if (parent === undefined) all.push(added)
    else parent.children = [...(parent.children ?? []), added]
  }
  return all
}
