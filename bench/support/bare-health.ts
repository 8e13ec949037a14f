/** The least that can answer whether it is there: what it takes is what the machine's other work costs anybody. */
import type { AddressInfo } from 'node:net'
import { fastify } from 'fastify'

const app = fastify()
app.get('/healthz', () => ({ status: 'ok' }))
await app.listen({ host: '127.0.0.1', port: 0 })
console.log(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
