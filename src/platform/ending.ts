import type { Log } from './logging/log.ts'

/** Ends several parts one by one, so that a failure of one does not keep the others from ending. */
export function createEnding(log: Log) {
  const problems: unknown[] = []
  return {
    /** Never rejects: errors of `end` are logged. */
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
