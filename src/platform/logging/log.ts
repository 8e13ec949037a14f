import { type Logger, type LoggerOptions, pino } from 'pino'
import { maskApiKeys } from '../api-key.ts'
import { diskProblemIn } from '../disk.ts'
import { createLogOutput } from './log-output.ts'

export type Log = Logger

/** Field names that can carry a secret, at any place in a logged object. */
const secretFields = [
  'authorization',
  'cookie',
  'token',
  'apiKey',
  'api_key',
  'secret',
  'accessKeyId',
  'secretAccessKey',
  'password',
  'sealed',
  'credentials',
  // A gateway's token has the name that the operator gave it.
  'headers',
]

/**
 * Creates the structured log of one process: a JSON object a line on standard output. Secrets are removed by
 * field name, headers as a whole: libraries log those of a request. API keys are masked everywhere.
 */
export function createLog(level: string, destination?: { write(line: string): void }): Log {
  const paths = secretFields.flatMap(field => [field, `*.${field}`, `*.*.${field}`])
  const options = { level, redact: { paths, censor: '[redacted]' }, base: null, hooks: fewDiskProblems() }
  const output = destination ?? createLogOutput()
  return pino(options, { write: (line: string) => output.write(maskApiKeys(line)) })
}

/** Reduces repetitions: on a full disk all writes fail again and again, and one line a minute suffices. */
function fewDiskProblems(): NonNullable<LoggerOptions['hooks']> {
  let quietUntil = 0
  return {
    logMethod(parameters, method) {
      const { err } = Object(parameters[0]) as { err?: unknown }
      const isDiskProblem = diskProblemIn(err) !== undefined
      if (isDiskProblem && performance.now() < quietUntil) return
      if (isDiskProblem) quietUntil = performance.now() + 60_000
      method.apply(this, parameters)
    },
  }
}
