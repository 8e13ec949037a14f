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

/**
 * Standard output may be a file on a disk that is full, or a pipe that nobody empties: that is no reason to stop the
 * service, which goes on to write once it can.
 */
function standardOutput() {
  const output = pino.destination({ dest: 1, maxLength: mostWaiting })
  const { flushSync } = output
  // At the end of the process it would wait for room, for ever if need be.
  output.on('error', () => Object.assign(output, { flushSync() {} }))
  output.on('drain', () => Object.assign(output, { flushSync }))
  return output
}
