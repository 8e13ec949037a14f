import { lstatSync, mkdirSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Has all data directories of a run of tests use one unpacked browser: each unpacks its own unless the service runs as root. */
export function shareChromium(dataDirectory: string): void {
  if (process.getuid?.() === 0) return
  const folder = join(dataDirectory, 'chromium')
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) return
  const shared = join(tmpdir(), 'agentstead-shared-chromium')
  mkdirSync(shared, { recursive: true })
  symlinkSync(shared, folder)
}
