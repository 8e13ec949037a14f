import { AppError } from '../errors.ts'
import { JobYields } from './jobs.ts'

/** Prepares an error whose message people see, such as on a source: others go to the log only. */
export function presentable(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof AppError || error instanceof JobYields || signal.aborted) return error
  return new AppError(
    'INTERNAL_ERROR',
    'something unexpected happened, which the log of the server tells of.',
    { cause: error },
  )
}
