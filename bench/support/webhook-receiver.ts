/**
 * Receives deliveries of webhooks, and tells how long after its event each came. A path `/slow…` is never answered. A program
 * of its own, so that it measures nothing but the service: `GET /times` answers `{path, ms}` of each delivery so far.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

const times: { path: string; ms: number }[] = []

const server = createServer((request, response) => {
  const { url: path = '', method } = request
  if (method === 'GET') return void response.end(JSON.stringify(times))
  text(request).then(
    body => {
      times.push({ path, ms: Date.now() - Date.parse(JSON.parse(body).timestamp) })
      if (!path.startsWith('/slow')) response.end()
    },
    () => response.destroy(),
  )
})
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
