import { readFileSync } from 'node:fs'

/** Memory that a process holds with all that it has started, in MB; from `/proc`, so on Linux only. */
export function residentMemoryOf(pid: number): number {
  const status = read(`/proc/${pid}/status`)
  const [, kibibytes = '0'] = /^VmRSS:\s*(\d+) kB$/m.exec(status) ?? []
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)
  const own = (Number(kibibytes) * 1024) / 1e6
  return children.reduce((sum, child) => sum + residentMemoryOf(Number(child)), own)
}

/** Empty for a process that has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
