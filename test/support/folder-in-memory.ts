import { accessSync, constants, readFileSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'

const path = '/dev/shm'
/** Bytes; a run of all tests takes less than a third of it at a time. */
const roomNeeded = 4 * 1024 ** 3

/**
 * A folder of this machine that lies in memory; undefined where there is none with room for the files of tests. Tests make
 * and remove so many small files, most of them of PostgreSQL, that on a disk they take twice as long.
 */
export function folderInMemory(): string | undefined {
  try {
    if (!isUsable(readFileSync('/proc/self/mounts', 'utf8'))) return undefined
    accessSync(path, constants.W_OK)
    const { bavail, bsize } = statfsSync(path)
    // Files in memory count as the container's own, which may get less of it than the machine has free.
    const room = Math.min(bavail * bsize, freemem(), process.availableMemory())
    return room < roomNeeded ? undefined : path
  } catch {
    // Not on Linux, or not for us.
    return undefined
  }
}

/** Programs are started from it, which some systems do not allow. */
function isUsable(mounts: string): boolean {
  return mounts.split('\n').some(line => {
    const [, mountedAt, type, options = ''] = line.split(' ')
    return mountedAt === path && type === 'tmpfs' && !options.split(',').includes('noexec')
  })
}
