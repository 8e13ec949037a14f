import { AppError } from './errors.ts'

/** State of the disk that holds the service's data. */
export interface Disk {
  /** Why nothing can be stored at the moment; undefined while all is well. */
  readonly problem: AppError | undefined
  /** Notes the problem if this error comes from it. */
  report(error: unknown): void
  /** While there is a problem, frees some of the space that is reserved for what must be written nevertheless. */
  makeRoom(): Promise<void>
}

/** A disk that the service can't see, such as that of a database server. */
export const remoteDisk: Disk = { problem: undefined, report: () => {}, makeRoom: async () => {} }

export function storageFull(cause?: unknown, state: 'full' | 'read-only' = 'full'): AppError {
  const advice = state === 'full' ? ' Delete something that is no longer needed, and try again.' : ''
  return new AppError('STORAGE_FULL', `The disk of the service is ${state}.${advice}`, { cause })
}

/** The problem of the disk that an error comes from, also as the cause of another error; undefined if it doesn't. */
export function diskProblemIn(error: unknown): AppError | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof AppError && error.code === 'STORAGE_FULL') return error
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT') return storageFull(error)
  if (code === 'EROFS') return storageFull(error, 'read-only')
  return diskProblemIn(error.cause)
}

/** Runs what must succeed even on a full disk, and runs it again if that was found out only now. */
export async function withRoom<Result>(disk: Disk, work: () => Promise<Result>): Promise<Result> {
  await disk.makeRoom()
  try {
    return await work()
  } catch (error) {
    if (diskProblemIn(error) === undefined) throw error
    disk.report(error)
    await disk.makeRoom()
    return await work()
  }
}
