import type { Configuration } from '#configuration/configuration.ts'
import { readConfiguration } from '#configuration/configuration.ts'
import { AppError } from '#platform/errors.ts'

/** The service could not start, or a command could not do its work. */
export const failed = 1
/** The environment variables, or the parameters of a command, are wrong. */
export const misused = 2

/** Returns the configuration; if it is wrong, reports every problem and ends the process. */
export function configurationOrExit(): Configuration {
  const result = readConfiguration()
  if ('configuration' in result) return result.configuration
  const problems = result.problems.map(problem => `  - ${problem}\n`).join('')
  process.stderr.write(`The configuration is wrong:\n${problems}`)
  process.exit(misused)
}

/** Ends the process with one sentence: `what` could not be done, and why. */
export function exitBecause(what: string, error: unknown): never {
  const { message = String(error), cause } = error instanceof Error ? error : {}
  // The message of an AppError leaves out what only the operator may know, such as paths.
  const details = error instanceof AppError && cause instanceof Error ? ` (${cause.message})` : ''
  process.stderr.write(`${what}: ${message}${details}\n`)
  process.exit(failed)
}
