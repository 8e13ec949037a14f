import type { RunLimits } from './limits.ts'

export interface TimeBudget {
  /** Returns a sentence with the exceeded limit; undefined as long as there is none. */
  exceeded(): string | undefined
}

/** Measures the processor time of the calling thread from now on: other work on the machine does not count. */
export function createTimeBudget({ cpuMs, wallMs }: RunLimits): TimeBudget {
  const deadline = performance.now() + wallMs
  const cpuAtStart = process.threadCpuUsage()
  return {
    exceeded() {
      const { user, system } = process.threadCpuUsage(cpuAtStart)
      if ((user + system) / 1000 > cpuMs) return cpuExceeded(cpuMs)
      return performance.now() > deadline ? wallExceeded(wallMs) : undefined
    },
  }
}

export function cpuExceeded(limit: number): string {
  return `The code was stopped after ${limit / 1000} s of computing. Look for a loop that does not end, or do less in one call.`
}

export function wallExceeded(limit: number): string {
  return `The code was stopped because it had not ended after ${limit / 1000} s. Do less, or wait for less, in one call.`
}
