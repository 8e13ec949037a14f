/** The sign of life of a run: a counter in shared memory that its thread changes whenever it could interrupt the code. */
export type Pulse = Int32Array<SharedArrayBuffer>

/** Interval of beats while the code waits (ms). */
export const beatMs = 500

const checkMs = 250

export function createPulse(): Pulse {
  return new Int32Array(new SharedArrayBuffer(4))
}

export function beat(pulse: Pulse): void {
  Atomics.add(pulse, 0, 1)
}

/** Aborts its signal after `silenceMs` without a beat, counted from the first one. Stop it after the run. */
export function watchPulse(pulse: Pulse, silenceMs: number): { signal: AbortSignal; stop(): void } {
  const silent = new AbortController()
  let last = 0
  let heardAt = Number.POSITIVE_INFINITY
  const timer = setInterval(() => {
    const now = Atomics.load(pulse, 0)
    if (now !== last) heardAt = performance.now()
    else if (performance.now() - heardAt > silenceMs) silent.abort()
    last = now
  }, checkMs)
  return { signal: silent.signal, stop: () => clearInterval(timer) }
}
