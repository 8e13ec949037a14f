import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

const root = new URL('../../', import.meta.url)

/** What a Node of this version says, as far as the check can tell. */
const pretending = (version: string) =>
  `data:text/javascript,${encodeURIComponent(`Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`)}`

async function check(version: string) {
  const parameters = ['--import', pretending(version), '--import', './src/compile-cache.mjs', '--eval', '0']
  return promisify(execFile)(process.execPath, parameters, { cwd: root }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  )
}

describe('a Node that is too old', () => {
  it.each(['18.20.4', '20.19.5', '22.21.0', '24.9.0'])('is told in one sentence: %s', async version => {
    const { code, stderr } = await check(version)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^agentstead needs Node [\d.]+ or newer, and this is .*: run "npm ci".*\.\n$/)
    expect(stderr).toContain(version)
  })

  it.each([process.versions.node, '24.10.0', '25.0.0'])('is not %s', async version => {
    expect(await check(version)).toEqual({ code: 0, stderr: '' })
  })

  it('meets the check before anything else, whichever program it starts', () => {
    const { start, 'rotate-key': rotateKey, 'migrate-data': migrateData } = manifest.scripts
    for (const script of [start, rotateKey, migrateData])
      expect(script).toMatch(/^exec node --import \.\/src\/compile-cache\.mjs src\/[\w-]+\.ts$/)
  })
})
