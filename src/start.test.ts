import { type AddressInfo, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { readConfiguration } from '#configuration/configuration.ts'
import { systemClock } from '#platform/clock.ts'
import { randomIds } from '#platform/ids.ts'
import { createLog } from '#platform/logging/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { openDataDirectory } from '#storage/sqlite/connections/data-directory.ts'
import { buildApp } from '#test/support/build-app.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { buildService, type Service } from './app.ts'
import { start } from './start.ts'

it('a service that cannot listen has given its data free by the time it says so', async () => {
  const occupied = createServer()
  await new Promise<void>(resolve => occupied.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void occupied.close())
  const { port } = occupied.address() as AddressInfo
  const path = temporaryDirectory()
  const result = readConfiguration({ DATA_DIR: path, PORT: String(port), LOG_LEVEL: 'silent' })
  if ('problems' in result) throw new Error(result.problems.join('\n'))
  let canClose = false
  // It may be told to end as soon as it answers.
  const onBuilt = ({ app }: Service) => {
    canClose = !app.server.listening
  }
  await expect(start(result.configuration, onBuilt)).rejects.toThrow(`port ${port} of 127.0.0.1 is in use`)
  expect(canClose).toBe(true)
  const directory = await openDataDirectory(path)
  directory.close()
})

it('a service that cannot be built has given its data free by the time it says so', async () => {
  const path = temporaryDirectory()
  const result = readConfiguration({ DATA_DIR: path })
  if ('problems' in result) throw new Error(result.problems.join('\n'))
  const failing = () => {
    throw new Error('no time to tell')
  }
  const environment = { ids: randomIds, log: createLog('silent'), createWorkerPool }
  const built = buildService(result.configuration, {
    ...environment,
    clock: { ...systemClock, now: failing },
  })
  await expect(built).rejects.toThrow('no time to tell')
  const directory = await openDataDirectory(path)
  directory.close()
})

it('a service that cannot end a part ends the others, and then tells the first problem', async () => {
  const { service, dataDirectory, logged } = await buildApp({ dataDirectory: temporaryDirectory() })
  const { runner } = service.infrastructure
  const stop = runner.stop.bind(runner)
  Object.assign(service.app, { close: () => Promise.reject(new Error('connections stay')) })
  runner.stop = async deadline => {
    await stop(deadline)
    throw new Error('jobs stay')
  }
  await expect(service.close()).rejects.toThrow('connections stay')
  for (const problem of ['connections stay', 'jobs stay'])
    expect(logged.filter(line => line.includes(`"message":"${problem}"`))).toHaveLength(1)
  const directory = await openDataDirectory(dataDirectory)
  directory.close()
})
