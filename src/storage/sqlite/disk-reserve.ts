import { randomBytes } from 'node:crypto'
import { stat, statfs, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Disk, diskProblemIn, storageFull } from '#platform/disk.ts'
import type { AppError } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'

const mebibyte = 1024 * 1024
const reserveBytes = 8 * mebibyte
/** Bytes that are freed at a time. */
const roomBytes = 2 * mebibyte
/** Min free bytes, beside a whole reserve, for the disk to count as no longer full. */
const marginBytes = 4 * mebibyte
/** Interval between checks of a full disk (ms). */
const pauseMs = 1_000

/**
 * Watches the disk of a data directory and keeps a file there, only to free its space when needed: without
 * space, nothing could be deleted, and SQLite can't even read, because readers share an index that is a file.
 */
export async function keepDiskReserve(folder: string, log: Log): Promise<Disk & { close(): void }> {
  const path = join(folder, 'reserve')
  let problem: AppError | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function report(error: unknown): void {
    const found = diskProblemIn(error)
    if (found === undefined || isClosed) return
    problem = found
    timer ??= setTimeout(() => {
      timer = undefined
      void look()
    }, pauseMs).unref()
  }

  /** Restores the whole reserve if there is space for it, and thereby ends the problem. */
  async function look(): Promise<void> {
    try {
      const size = await sizeOf(path)
      if ((await freeBytes(folder)) + size < reserveBytes + marginBytes) throw problem ?? storageFull()
      if (problem === undefined && size === reserveBytes) return
      // Random bytes, because some file systems compress repetitions.
      await writeFile(path, await promisify(randomBytes)(reserveBytes), { mode: 0o600 })
      if (problem !== undefined) log.info('the disk can be written again')
      problem = undefined
    } catch (error) {
      report(diskProblemIn(error) ?? storageFull(error))
    }
  }

  await look()
  return {
    get problem() {
      return problem
    },
    report,
    async makeRoom() {
      if (problem === undefined) return
      const lacking = roomBytes - (await freeBytes(folder))
      const size = await sizeOf(path)
      if (lacking > 0 && size > 0) await truncate(path, Math.max(0, size - lacking))
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0
}
