import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { crawlLimits } from '../crawl-limits.ts'

/** One host: a few requests at a time, with the pauses that it demands. Shared by all crawls of this process. */
interface Gate {
  free: number
  waiting: (() => void)[]
  /** When the next request may start, by `performance.now()`. */
  nextStart: number
}

export interface HostGates {
  /** Runs `work` when the host may be called again; `pauseMs` is the least time between the starts of two requests. */
  pass<Result>(
    origin: string,
    wait: { pauseMs: number; signal: AbortSignal },
    work: () => Promise<Result>,
  ): Promise<Result>
  /** No request goes to the host before this time has passed. */
  hold(origin: string, milliseconds: number): void
}

/** Hosts that are remembered. */
const maxHosts = 10_000

export function createHostGates(): HostGates {
  const gates = new LRUCache<string, Gate>({ max: maxHosts })

  function gateOf(origin: string): Gate {
    const known = gates.get(origin)
    if (known !== undefined) return known
    const gate: Gate = { free: crawlLimits.requestsPerHost, waiting: [], nextStart: 0 }
    gates.set(origin, gate)
    return gate
  }

  return {
    async pass(origin, { pauseMs, signal }, work) {
      const gate = gateOf(origin)
      await enter(gate, signal)
      try {
        await untilAllowed(gate, pauseMs, signal)
        return await work()
      } finally {
        leave(gate)
      }
    },
    hold(origin, milliseconds) {
      const gate = gateOf(origin)
      gate.nextStart = Math.max(gate.nextStart, performance.now() + milliseconds)
    },
  }
}

async function enter(gate: Gate, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (gate.free > 0) {
    gate.free -= 1
    return
  }
  const turn = Promise.withResolvers<void>()
  const give = () => turn.resolve()
  const giveUp = () => {
    // A turn that was given is taken, and ends at once.
    if (gate.waiting.includes(give)) gate.waiting.splice(gate.waiting.indexOf(give), 1)
    turn.reject(signal.reason)
  }
  gate.waiting.push(give)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    await turn.promise
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

function leave(gate: Gate): void {
  const next = gate.waiting.shift()
  if (next === undefined) gate.free += 1
  else next()
}

/** The start may have been postponed meanwhile, so it is checked again until it is time. */
async function untilAllowed(gate: Gate, pauseMs: number, signal: AbortSignal): Promise<void> {
  for (let rest = gate.nextStart - performance.now(); rest > 0; rest = gate.nextStart - performance.now())
    await delay(rest, undefined, { signal })
  // In the same step as the check, so that of two that waited only one goes on.
  gate.nextStart = performance.now() + pauseMs
}
