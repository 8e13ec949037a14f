/** A disk of its own for a process, small enough to be filled: a file system in memory that nothing else sees. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { getuid } from 'node:process'
import { onTestFinished } from 'vitest'
import { temporaryDirectory } from './temporary-directory.ts'

const repository = new URL('../../', import.meta.url).pathname

export interface SmallDisk {
  /** Where it is for processes that run within it. */
  path: string
  /** Where the same folder is for all others, such as the test. */
  outside: string
  /** To be put before a command, which then sees the disk. */
  within: readonly string[]
  freeBytes(): number
  /** Leaves so many bytes. */
  fill(left?: number): void
  /** Takes back what filled it. */
  empty(): void
  remount(mode: 'ro' | 'rw'): void
}

/** Undefined where this system lets its users mount nothing, not even in a namespace of their own. */
export async function mountSmallDisk(mebibytes: number): Promise<SmallDisk | undefined> {
  const path = temporaryDirectory()
  const isRoot = getuid?.() === 0
  const mount = `mount -t tmpfs -o size=${mebibytes}m none "$0" && echo mounted && exec cat`
  const unshare = `exec unshare --mount ${isRoot ? '' : '--map-root-user'} sh -c "$0" "$1"`
  const holder = spawn('sh', ['-c', unshare, mount, path], { stdio: ['pipe', 'pipe', 'ignore'] })
  onTestFinished(() => void holder.kill('SIGKILL'))
  const ended = once(holder, 'close').catch(() => [])
  const [said] = await Promise.race([once(holder.stdout, 'data'), ended])
  if (String(said) !== 'mounted\n') return undefined

  const outside = `/proc/${holder.pid}/root${path}`
  const filling = join(outside, 'filling')
  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(outside)
    return bavail * bsize
  }
  const namespaces = ['--mount', ...(isRoot ? [] : ['--user', '--preserve-credentials'])]
  const enter = ['nsenter', ...namespaces, `--target=${holder.pid}`] as const
  return {
    path,
    outside,
    within: [
      'nsenter',
      ...namespaces,
      `--target=${holder.pid}`,
      'sh',
      '-c',
      'cd "$0" && exec "$@"',
      repository,
    ],
    freeBytes,
    fill(left = 0) {
      const bytes = freeBytes() - left
      try {
        if (bytes > 0) appendFileSync(filling, Buffer.alloc(bytes))
      } catch (error) {
        // Others were writing, too.
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      }
    },
    empty: () => rmSync(filling, { force: true }),
    remount(mode) {
      const [program, ...parameters] = enter
      execFileSync(program, [...parameters, 'mount', '-o', `remount,${mode}`, path])
    },
  }
}
