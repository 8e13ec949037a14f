/** The least that can stand between a caller and a model server: hands every piece on as it is. Parameter: its address. */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

const target = process.argv[2] ?? ''
const server = createServer((incoming, response) => {
  const { method, url, headers } = incoming
  const outgoing = request(`${target}${url}`, { method, headers }, answer => {
    response.writeHead(answer.statusCode ?? 502, { 'content-type': 'text/event-stream' })
    answer.pipe(response)
  })
  outgoing.once('error', error => response.destroy(error))
  incoming.pipe(outgoing)
})
// Idle connections stay open for as long as a benchmark runs.
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
