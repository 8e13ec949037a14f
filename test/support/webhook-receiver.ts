/** A server on loopback that takes deliveries of webhooks, and checks each with the official library. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

export interface Received {
  path: string
  id: string
  headers: IncomingHttpHeaders
  /** As it arrived. */
  body: string
}

export interface ReceiverAnswer {
  status?: number
  headers?: Record<string, string>
  body?: string
}

export interface WebhookReceiver extends AsyncDisposable {
  /** Without a slash at the end. */
  url: string
  received: Received[]
  /** The most deliveries that waited for an answer at a time. */
  maxWaiting(): number
}

/** @param answer null for one that never comes; status 200 unless it says otherwise. */
export async function startWebhookReceiver(
  answer: (delivery: Received) => ReceiverAnswer | null = () => ({}),
): Promise<WebhookReceiver> {
  const received: Received[] = []
  let waiting = 0
  let maxWaiting = 0
  const server = createServer((request, response) => {
    waiting += 1
    maxWaiting = Math.max(maxWaiting, waiting)
    response.once('close', () => {
      waiting -= 1
    })
    const { url: path = '', headers } = request
    text(request).then(
      body => {
        const delivery = { path, id: String(headers['webhook-id']), headers, body }
        received.push(delivery)
        const answered = answer(delivery)
        if (answered === null) return
        // A name is then looked up again for the next delivery.
        response.writeHead(answered.status ?? 200, { connection: 'close', ...answered.headers })
        response.end(answered.body)
      },
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    maxWaiting: () => maxWaiting,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The content of a delivery. Throws unless it was signed with the secret just now. */
export function verified(delivery: Received, secret: string): unknown {
  return new Webhook(secret).verify(delivery.body, delivery.headers as Record<string, string>)
}
