import { type Configuration, readConfiguration } from '#configuration/configuration.ts'
import { AppError } from '#platform/errors.ts'

/** Exit code of a service that could not start, or a command that failed. */
export const failed = 1
/** Exit code for wrong environment variables, or parameters of a command. */
export const misused = 2

/** Returns the configuration; if it is wrong, reports every problem and ends the process. */
export function configurationOrExit(): Configuration {
  const result = readConfiguration()
  if ('configuration' in result) return result.configuration
  const problems = result.problems.map(problem => `  - ${problem}\n`).join('')
  process.stderr.write(`The configuration is wrong:\n${problems}`)
  process.exit(misused)
}

/** Ends the process with one sentence: `what` failed, and the reason. */
export function exitBecause(what: string, error: unknown): never {
  const { message = String(error), cause } = error instanceof Error ? error : {}
  // The message of an AppError lacks facts for the operator alone, such as paths.
  const details = error instanceof AppError && cause instanceof Error ? ` (${cause.message})` : ''
  process.stderr.write(`${what}: ${message}${details}\n`)
  process.exit(failed)
}
