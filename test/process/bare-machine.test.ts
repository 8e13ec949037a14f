/** The bundled browser on a system that has nothing of what browsers need, from a clone in whoever's home. */
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const root = new URL('../../', import.meta.url).pathname
const run = promisify(execFile)

/** Hides what the browser could find, for the command behind it alone, which runs in a clone at `$2`. */
const bareSystem = `
set -e
mount --make-rprivate /
for folder in /usr/share/fonts /usr/local/share/fonts /etc/fonts /usr/share/fontconfig; do
  if [ -d "$folder" ]; then mount --bind "$0" "$folder"; fi
done
for library in /usr/lib/x86_64-linux-gnu/lib{nss3,nspr4,nssutil3,softokn3,freebl3}.so /usr/lib/x86_64-linux-gnu/libexpat.so.1; do
  if [ -e "$library" ]; then mount --bind /dev/null "$(readlink -f "$library")"; fi
done
mount --bind "$1" "$2"
cd "$2"
shift 2
exec "$@"
`

const unshare = 'unshare'
const canHide = process.getuid?.() === 0 && spawnSync(unshare, ['--mount', 'true']).status === 0
/** Said by the name of a test that is skipped. */
const unless = canHide ? '' : ', which needs root and mounts of its own'

interface Opened {
  openedIn: number
  pixels: number[]
  differs: boolean
}

it.skipIf(!canHide).each([
  ['root, in a home that is closed to others', undefined, 0o700],
  ['an ordinary user', 12_345, 0o755],
])(`on a bare system the browser starts and paints text, run by %s${unless}`, async (_who, user, mode) => {
  const folder = temporaryDirectory()
  const [home, clone, empty, data, temporary] = ['home', 'home/clone', 'empty', 'data', 'tmp'].map(name => {
    const path = join(folder, name)
    mkdirSync(path)
    return path
  }) as [string, string, string, string, string]
  for (const [path, bits] of [
    [folder, 0o755],
    [home, mode],
    [temporary, 0o1777],
    [data, 0o700],
  ] as const)
    chmodSync(path, bits)
  if (user !== undefined) chownSync(data, user, user)
  const asUser = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups']
  const node = join(clone, process.execPath.startsWith(root) ? process.execPath.slice(root.length) : '')
  const program = [
    process.execPath.startsWith(root) ? node : process.execPath,
    'test/support/programs/open-browser.ts',
    data,
  ]
  const command = ['--mount', 'bash', '-c', bareSystem, empty, root, clone, ...asUser, ...program]
  const { stdout, stderr } = await run(unshare, command, {
    env: { PATH: process.env.PATH, TMPDIR: temporary },
  })
  const opened = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Opened
  expect(opened.differs, stderr).toBe(true)
  expect(Math.min(...opened.pixels)).toBeGreaterThan(100)
  expect(stdout).not.toContain('without its sandbox')
})
