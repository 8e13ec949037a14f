import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'

/** A file of the system that is there to be full. */
const fullDisk = '/dev/full'

/** Runs this script, which has a log, with a standard output that can't be written; gives its exit code. */
async function runOnFullDisk(script: string): Promise<number | null> {
  const start = `
    import { createLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)}
    const log = createLog('info')
    ${script}
  `
  const output = openSync(fullDisk, 'w')
  const child = spawn(process.execPath, ['--input-type=module', '-e', start], {
    stdio: ['ignore', output, 'inherit'],
  })
  closeSync(output)
  onTestFinished(() => void child.kill('SIGKILL'))
  const [code] = await once(child, 'exit')
  return code
}

describe.runIf(existsSync(fullDisk))('lines that cannot be written', () => {
  it('are written once they can be, also when there were too many, and so are those that come later', async () => {
    const file = join(temporaryDirectory(), 'log')
    const script = `
      import { closeSync, openSync, statSync } from 'node:fs'
      import { setTimeout as delay } from 'node:timers/promises'
      for (let number = 0; number < 20_000; number += 1) log.info('x'.repeat(100))
      await delay(1)
      // The file becomes standard output, as that is the first number that is free.
      closeSync(1)
      openSync(${JSON.stringify(file)}, 'w')
      while (statSync(${JSON.stringify(file)}).size < 1_000_000) {
        log.info('x'.repeat(100))
        await delay(1)
      }
      log.info('later')
    `
    expect(await runOnFullDisk(script)).toBe(0)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ msg: 'later' })
  })

  it('do not keep the process from ending, however late they are', async () => {
    expect(await runOnFullDisk(`for (const line of ['one', 'two', 'three']) log.info(line)`)).toBe(0)
    expect(await runOnFullDisk(`for (const line of ['one', 'two']) log.info(line); process.exit(7)`)).toBe(7)
  })
})
