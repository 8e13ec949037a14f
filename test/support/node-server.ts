/** A server that nodes send requests to, and whose answers a test decides. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface NodeRequest {
  path: string
  key: string | undefined
  response: ServerResponse
  /** Whether the other side has broken it off. */
  isBroken: boolean
}

export async function startNodeServer() {
  const requests: NodeRequest[] = []
  const server = createServer((request, response) => {
    const key = request.headers['idempotency-key']
    const one = { path: request.url ?? '', key: key?.toString(), response, isBroken: false }
    response.once('close', () => {
      one.isBroken = !response.writableFinished
    })
    requests.push(one)
    const status = Number(/^\/status\/(\d+)/.exec(one.path)?.[1])
    if (status > 0) response.writeHead(requests.length < 3 ? status : 200).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    /** Nothing is answered but below `/status/500`: that, and 200 from the third request on. */
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
