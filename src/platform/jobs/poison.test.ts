import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#platform/clock.ts'
import { startProgram } from '#test/support/child-process.ts'
import { openEmbeddedStorage } from '#test/support/embedded-storage.ts'
import { openPostgresEngine } from '#test/support/job-engine.ts'
import { createTestDatabase } from '#test/support/postgres/databases.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'

const program = new URL('../../../test/support/programs/work-beside-poison.ts', import.meta.url)
const others = 20

test('a job that kills its process is given up after four starts, and all others end as they should', async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database?.remove())
  const place = database?.url ?? temporaryDirectory()
  async function read() {
    const { agentDatabases, addAgent, close } =
      database === undefined
        ? await openEmbeddedStorage({ path: place })
        : { ...(await openPostgresEngine(place, systemClock)), close: async () => {} }
    await addAgent('a').catch(() => {})
    const found = await agentDatabases.use('a', async ({ db }) => ({
      facts: (await db.selectFrom('agent_facts').select('name').orderBy('name').execute()).map(
        ({ name }) => name,
      ),
      entries: await db.selectFrom('outbox').select(['name', 'failed_at']).execute(),
    }))
    await close()
    return found
  }

  await read()
  let added = others
  let left = 1
  for (; left > 0; added = 0) {
    // Of these, one at most may use a data directory.
    const replicas = Array.from({ length: database === undefined ? 1 : 2 }, (_, at) =>
      startProgram(program, place, String(at === 0 ? added : 0)),
    )
    await Promise.all(replicas.map(({ ended }) => ended))
    const { entries } = await read()
    left = entries.filter(({ failed_at }) => failed_at === null).length
  }
  const { facts, entries } = await read()
  const startingWith = (word: string) => facts.filter(fact => fact.startsWith(word))
  const starts = startingWith('poison').length
  // Neither at its first death, which may be another's fault, nor later than promised.
  expect(starts).toBeGreaterThanOrEqual(2)
  expect(starts).toBeLessThanOrEqual(4)
  expect(startingWith('note')).toHaveLength(others)
  expect(startingWith('failed')).toEqual([expect.stringContaining('It ended the service')])
  expect(entries).toMatchObject([{ name: 'poison' }])
})
