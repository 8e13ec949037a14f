/** Services and the commands that need the data to themselves, on one database of PostgreSQL. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { claimData } from '#storage/postgres/connections/data-lock.ts'
import { eventually } from '#test/support/eventually.ts'
import { createTestDatabase, queryDatabase } from '../support/postgres/databases.ts'
import { runProgram } from '../support/run-program.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

// Several processes start and end in one test.
vi.setConfig({ testTimeout: 180_000 })

const key = randomBytes(32).toString('base64')
const newKey = randomBytes(32).toString('base64')

const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const directory = () => temporaryDirectory(end => ends.push(end))

async function openDatabase(): Promise<string> {
  const database = await createTestDatabase()
  if (database === undefined) throw new Error('these tests need a server of PostgreSQL')
  ends.push(database.remove)
  return database.url
}

function startService(url: string) {
  const environment = { DATABASE_URL: url, ENCRYPTION_KEY: key }
  return startServerProcess({ dataDirectory: directory(), environment })
}

function migrate(url: string) {
  const file = new URL('../../src/migrate-data.ts', import.meta.url)
  return runProgram(file, {}, '--from', url, '--to', join(directory(), 'data'))
}

function rotate(url: string) {
  const file = new URL('../../src/rotate-key.ts', import.meta.url)
  const keys = { ENCRYPTION_KEY_PREVIOUS: key, ENCRYPTION_KEY: newKey }
  return runProgram(file, { DATABASE_URL: url, DATA_DIR: directory(), ...keys })
}

function cutAll(url: string) {
  return queryDatabase(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  )
}

function sharedLocks(url: string) {
  return queryDatabase(
    url,
    `select 1 from pg_locks join pg_database on pg_database.oid = database
      where datname = current_database() and locktype = 'advisory' and mode = 'ShareLock' and granted`,
  )
}

// Both mostly wait for commands, which wait for others to end before they give up.
it.concurrent('a service keeps commands away, whatever its connections are called, and after they broke', async () => {
  const url = await openDatabase()
  await using service = await startService(`${url}?application_name=something-else`)
  // One connection is left of those that have held it since the start.
  expect(await sharedLocks(url)).toHaveLength(1)
  const inUse = /^The (data was not copied|key was not changed): a service, or another command, is using /
  for (const refused of await Promise.all([migrate(url), rotate(url)]))
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(inUse) })

  await cutAll(url)
  await eventually(async () => expect(await sharedLocks(url)).toHaveLength(1))
  expect(await migrate(url)).toMatchObject({ code: 1, stderr: expect.stringMatching(inUse) })

  await using second = await startService(url)
  await second.stop()
  await service.stop()
  for (const command of [migrate, rotate]) expect(await command(url)).toMatchObject({ code: 0, stderr: '' })
})

it.concurrent('no service starts, and no other command begins, on data that a command has to itself', async () => {
  const url = await openDatabase()
  await using held = await claimData(url, 'it')
  const [command] = await Promise.all([
    migrate(url),
    expect(startService(url)).rejects.toThrow(
      'agentstead could not start: The data in this database is being moved',
    ),
  ])
  expect(command.stderr).toContain('or another command, is using')
  await held.requireHeld()
  await cutAll(url)
  await expect(held.requireHeld()).rejects.toThrow('kept services away from it broke meanwhile')
})
