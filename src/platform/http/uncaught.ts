import { runOwned } from '../uncaught-errors.ts'
import type { App } from './app.ts'

/** Answers a request with 500 for an error that nothing caught, or ends its connection if the answer has begun. */
export function endOnUncaughtErrors(app: App): void {
  app.addHook('onRequest', (request, reply, done) => {
    // Connections to databases outlive the request that opens them, and must not keep its body.
    const answer = new WeakRef(reply)
    const end = (error: Error) => {
      const ending = answer.deref()
      if (ending === undefined || ending.raw.writableEnded) return
      if (ending.raw.headersSent || ending.sent) ending.request.raw.socket.destroy()
      // The rest of the request might be unread.
      else void ending.header('connection', 'close').send(error)
    }
    runOwned({ name: `${request.method} ${request.routeOptions.url ?? '*'}`, end }, done)
  })
}
