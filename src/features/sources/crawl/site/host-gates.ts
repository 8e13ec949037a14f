import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { crawlLimits } from '../crawl-limits.ts'

/** One host, with a few concurrent requests and its pauses. All crawls of this process share it. */
interface Gate {
  free: number
  waiting: (() => void)[]
  /** Start of the next request, by `performance.now()`. */
  nextStart: number
}

export interface HostGates {
  /** Runs `work` when the host may be called again, `pauseMs` at least after the previous start. */
  pass<Result>(
    origin: string,
    wait: { pauseMs: number; signal: AbortSignal },
    work: () => Promise<Result>,
  ): Promise<Result>
  /** Blocks requests to the host for this time. */
  hold(origin: string, milliseconds: number): void
}

/** Max hosts in memory. */
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
    // A granted turn is used, and ends at once.
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

/** Waits for the start, repeatedly because it might be postponed during the wait. */
async function untilAllowed(gate: Gate, pauseMs: number, signal: AbortSignal): Promise<void> {
  for (let rest = gate.nextStart - performance.now(); rest > 0; rest = gate.nextStart - performance.now())
    await delay(rest, undefined, { signal })
  // Set in the same step as the check, so that only one of two waiting requests continues.
  gate.nextStart = performance.now() + pauseMs
}
