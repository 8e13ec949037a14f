import type { Log } from './logging/log.ts'

/** Ends the parts of something one by one, so that a part that fails to end keeps no other from it. */
export function createEnding(log: Log) {
  const problems: unknown[] = []
  return {
    /** Never rejects: what `end` throws is logged. */
    async attempt(end: () => unknown): Promise<void> {
      try {
        await end()
      } catch (error) {
        log.error({ err: error }, 'a part of the service could not be ended')
        problems.push(error)
      }
    },
    /** Throws the first problem, if there was one. */
    finish(): void {
      if (problems.length > 0) throw problems[0]
    },
  }
}
