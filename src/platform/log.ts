import type { Logger } from 'pino'
import { pino } from 'pino'

export type Log = Logger

/** Field names that may carry a secret, wherever they stand in a logged object. */
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
  // A gateway's token stands under whatever name the operator gave it.
  'headers',
]

/**
 * The structured log of one process: a JSON object a line on standard output.
 * Secrets are cut out by field name, headers as a whole: libraries log those of a request.
 */
export function createLog(level: string, destination?: { write(line: string): void }): Log {
  const paths = secretFields.flatMap(field => [field, `*.${field}`, `*.*.${field}`])
  const options = { level, redact: { paths, censor: '[redacted]' }, base: null }
  return pino(options, destination ?? standardOutput())
}

/** Characters of lines that wait to be written; what comes beyond them is lost. */
const mostWaiting = 1024 * 1024

/** How often it is tried, a tenth of a second apart, to write to a full pipe when the process ends. */
const lastAttempts = 5

/**
 * Standard output may be a file on a disk that is full, or a pipe that nobody empties: that is no reason to stop the
 * service, which goes on to write once it can, nor for it to stay when it is to end.
 */
function standardOutput() {
  let attemptsLeft = Number.POSITIVE_INFINITY
  const retryEAGAIN = () => {
    attemptsLeft -= 1
    return attemptsLeft > 0
  }
  const output = pino.destination({ dest: 1, maxLength: mostWaiting, retryEAGAIN })
  const writeAll = output.flushSync.bind(output)
  /** Called at the end of the process. */
  function flushSync(): void {
    attemptsLeft = lastAttempts
    try {
      writeAll()
    } catch {
      // What is left is lost.
    }
  }
  Object.assign(output, { flushSync })
  // For room on a disk it would wait for ever.
  output.on('error', () => Object.assign(output, { flushSync() {} }))
  output.on('drain', () => Object.assign(output, { flushSync }))
  return output
}
