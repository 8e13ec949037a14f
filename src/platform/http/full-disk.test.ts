import { expect, it } from 'vitest'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'
import { type Disk, diskProblemIn, storageFull } from '../disk.ts'
import type { AppError } from '../errors.ts'
import { refuseToStoreOnFullDisk } from './full-disk.ts'

/** A disk whose problem is the one that was reported last. */
function watchedDisk(problem?: AppError): Disk {
  return {
    get problem() {
      return problem
    },
    report(error) {
      problem = diskProblemIn(error)
    },
    makeRoom: async () => {},
  }
}

function serverOn(disk: Disk) {
  return bareServer({
    routes: app => {
      refuseToStoreOnFullDisk(app, disk)
      app.post('/api/thing', { config: plainRoute }, async () => {
        throw storageFull()
      })
    },
  })
}

const store = { method: 'POST', url: '/api/thing' } as const

it('a request that fails for lack of space has the next ones refused', async () => {
  const disk = watchedDisk()
  const { call } = await serverOn(disk)
  expect((await call(store)).statusCode).toBe(507)
  expect(disk.problem?.message).toContain('is full')
})

it('a disk that is read-only is called so by every refusal', async () => {
  const { call } = await serverOn(watchedDisk(storageFull(undefined, 'read-only')))
  for (let n = 0; n < 3; n += 1) {
    const refused = await call(store)
    expect(refused.statusCode).toBe(507)
    expect(refused.body).toContain('is read-only')
  }
})
