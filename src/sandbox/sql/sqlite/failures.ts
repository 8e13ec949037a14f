/** Maps SQLite's errors to a problem of one of the three kinds. */
import { isForbiddenFunction, refusedFunction } from '../forbidden-functions.ts'
import { type Problem, rowTooLarge } from '../problem.ts'
import { hiddenTable } from './authorizer.ts'

/** Primary result codes: https://sqlite.org/rescode.html */
const codes = { error: 1, busy: 5, full: 13, tooBig: 18, range: 25 }

/** @param stage the stage at which SQLite reported the error. */
export function problemOf(error: unknown, stage: 'prepare' | 'run', refusal: string | undefined): Problem {
  if (refusal !== undefined) return { kind: 'forbidden', message: refusal }
  const message = error instanceof Error ? error.message : String(error)
  const code = errorCode(error)
  if (code === undefined) return { kind: stage === 'prepare' ? 'invalid' : 'failed', message }
  return stage === 'prepare' ? whenPreparing(code, message) : whenRunning(code, message)
}

function whenPreparing(code: number, message: string): Problem {
  const missing = /^no such function: (.*)$/.exec(message)?.[1]
  if (missing !== undefined && isForbiddenFunction(missing))
    return { kind: 'forbidden', message: refusedFunction(missing) }
  if (message.startsWith('no such module: vec'))
    return { kind: 'forbidden', message: hiddenTable('of vectors') }
  const isProtected = /^table (\S+) may not be modified$/.exec(message)?.[1]
  if (isProtected !== undefined) return { kind: 'forbidden', message: hiddenTable(isProtected) }
  if (code === codes.busy) return busy
  return { kind: 'invalid', message }
}

function whenRunning(code: number, message: string): Problem {
  switch (code) {
    case codes.busy:
      return busy
    case codes.tooBig:
      return rowTooLarge
    case codes.full:
      return { kind: 'failed', message: 'The statement would let the database grow by too much at once.' }
    case codes.range:
      return { kind: 'invalid', message }
    default:
      return { kind: 'failed', message: `${message}.` }
  }
}

const busy: Problem = {
  kind: 'failed',
  message: 'The database was busy with other writes for too long. Try again.',
}

function errorCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return Number(error.errcode) & 0xff
}
