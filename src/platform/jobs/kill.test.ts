import { expect, test } from 'vitest'
import { type Program, startProgram } from '#test/support/child-process.ts'
import { openEmbeddedStorage } from '#test/support/embedded-storage.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'

const program = new URL('../../../test/support/programs/work-until-killed.ts', import.meta.url)

/** Reads what the program prints up to the line that starts with `word`, for the nth time. */
async function readUntil({ line }: Program, word: string, times: number): Promise<string[]> {
  const lines: string[] = []
  for (let seen = 0; seen < times; ) {
    const next = await line()
    lines.push(next)
    if (next.startsWith(word)) seen += 1
  }
  return lines
}

test('kill -9 three times in a row: no job that was stored is lost, and nothing stays behind', async () => {
  const path = temporaryDirectory()
  const printed: string[] = []
  const killAt = [
    ['added', 12],
    ['begun', 3],
    ['counted', 5],
  ] as const
  for (const [word, times] of killAt) {
    const dying = startProgram(program, path, '20')
    printed.push(...(await readUntil(dying, word, times)))
    await dying.kill()
  }
  const last = startProgram(program, path, '0')
  printed.push(...(await readUntil(last, 'idle', 1)))
  await last.kill()

  const { agentDatabases, platform } = await openEmbeddedStorage({ path })
  const done = await agentDatabases.use('a', ({ db }) =>
    db.selectFrom('agent_facts').select('name').execute(),
  )
  const stored = printed.filter(line => line.startsWith('added')).map(line => line.replace('added ', ''))
  expect(stored.length).toBeGreaterThanOrEqual(12)
  expect(done.map(({ name }) => name)).toEqual(expect.arrayContaining(stored))
  const left = await agentDatabases.use('a', ({ db }) => db.selectFrom('outbox').selectAll().execute())
  expect(left).toEqual([])
  expect(await platform.selectFrom('wake_ups').selectAll().execute()).toEqual([])
})
