import { expect, it } from 'vitest'
import { readConfiguration } from '#configuration/configuration.ts'
import { systemClock } from '#platform/clock.ts'
import { randomIds } from '#platform/ids.ts'
import { createLog } from '#platform/logging/log.ts'
import { eventually } from '#test/support/eventually.ts'
import { queryDatabase } from '#test/support/postgres/databases.ts'
import { forgetStorage, storageEnvironment } from '#test/support/postgres/environment.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { openInfrastructure } from './infrastructure.ts'

it('leaves no connection and no lock behind where its workers cannot be made', async () => {
  const path = temporaryDirectory()
  const environment = await storageEnvironment(path)
  const result = readConfiguration(environment)
  if ('problems' in result) throw new Error(result.problems.join('\n'))
  const open = () =>
    openInfrastructure(result.configuration, {
      clock: systemClock,
      ids: randomIds,
      log: createLog('silent'),
      createWorkerPool() {
        throw new Error('no threads are left')
      },
    })
  await expect(open()).rejects.toThrow('no threads are left')
  // The second one finds the data free.
  await expect(open()).rejects.toThrow('no threads are left')
  const { DATABASE_URL: url } = environment
  if (url !== undefined)
    await eventually(async () => {
      const others = await queryDatabase(
        url,
        `select application_name from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
           and backend_type = 'client backend'`,
      )
      expect(others).toEqual([])
    })
  await forgetStorage(path)
})
