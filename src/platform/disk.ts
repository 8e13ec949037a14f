import { AppError } from './errors.ts'

/** The state of the disk that holds the service's data. */
export interface Disk {
  /** The reason why nothing can be stored at the moment; undefined while the disk works. */
  readonly problem: AppError | undefined
  /** Notes the problem if this error comes from it. */
  report(error: unknown): void
  /** During a problem, frees some of the space that is reserved for necessary writes. */
  makeRoom(): Promise<void>
}

/** A disk that the service can't see, such as that of a database server. */
export const remoteDisk: Disk = { problem: undefined, report: () => {}, makeRoom: async () => {} }

export function storageFull(cause?: unknown, state: 'full' | 'read-only' = 'full'): AppError {
  const advice = state === 'full' ? ' Delete something that is no longer needed, and try again.' : ''
  return new AppError('STORAGE_FULL', `The disk of the service is ${state}.${advice}`, { cause })
}

/** Returns the disk's problem in an error, also as the cause of another error; undefined without one. */
export function diskProblemIn(error: unknown): AppError | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof AppError && error.code === 'STORAGE_FULL') return error
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT') return storageFull(error)
  if (code === 'EROFS') return storageFull(error, 'read-only')
  return diskProblemIn(error.cause)
}

/** Runs work that must succeed even on a full disk, and again if it reports the full disk first. */
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
