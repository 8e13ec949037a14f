import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { createSlots } from '../../workers/slots.ts'
import type { App } from '../app.ts'
import { whenClosed } from '../closing.ts'

/** Uploads that are read at a time; enough to keep the processor and the disk busy. */
const concurrency = 8
/** Time (ms) after which an upload that still arrives lets the next one start: its client might be slow. */
const maxTurnMs = 250

/**
 * Admits a few uploads at a time, first come first served, before any work for them. Otherwise a thousand uploads
 * at once would all be checked, read and stored at the same time, and each would wait for all others.
 */
export function limitUploads(app: App): void {
  const slots = createSlots(concurrency)
  app.addHook('onRequest', (request, reply, done) => {
    if (!isUpload(request)) {
      done()
      return
    }
    const closed = new AbortController()
    whenClosed(reply, () => closed.abort())
    slots.take(closed.signal).then(release => {
      delay(maxTurnMs, undefined, { signal: closed.signal }).then(release, release)
      done()
    }, done)
  })
}

/** Whether it carries a form, which its route reads by itself. */
export function isUpload({ headers, routeOptions }: FastifyRequest): boolean {
  return routeOptions.schema?.form !== undefined && /^multipart\//i.test(headers['content-type'] ?? '')
}
