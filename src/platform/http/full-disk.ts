import { type Disk, storageFull, withRoom } from '../disk.ts'
import type { App } from './app.ts'

const storing = new Set(['POST', 'PUT', 'PATCH'])

/**
 * Refuses requests that would store data before they begin while the disk has a problem: they must not use up
 * the space that is left for deletions.
 */
export function refuseToStoreOnFullDisk(app: App, disk: Disk): void {
  // This hook runs once access is decided, and before the body is read.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const stores = storing.has(request.method) && request.routeOptions.config.stores !== false
    done(stores ? disk.problem : undefined, payload)
  })
  app.addHook('onResponse', (_request, reply, done) => {
    // A known problem might be another one, such as a read-only disk.
    if (reply.statusCode === 507 && disk.problem === undefined) disk.report(storageFull())
    done()
  })
  app.addHook('onRoute', route => {
    const { method, handler } = route
    if (method !== 'DELETE') return
    route.handler = function deleteWithRoom(request, reply) {
      return withRoom(disk, async () => await handler.call(this, request, reply))
    }
  })
}
