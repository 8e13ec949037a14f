import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface TemporaryDirectory {
  path: string
  remove(): void
}

/** For hooks and benchmarks, which remove it themselves. */
export function makeTemporaryDirectory(): TemporaryDirectory {
  const path = mkdtempSync(join(tmpdir(), 'agentstead-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) }
}

/** An empty folder that is removed after the hooks that were added later, by default when the running test has finished. */
export function temporaryDirectory(onEnd: (end: () => void) => void = onTestFinished): string {
  const { path, remove } = makeTemporaryDirectory()
  onEnd(remove)
  return path
}
