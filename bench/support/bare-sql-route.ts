/** The least that can answer a statement: a Fastify without anything that prepares and runs it where it is. Parameter: a database file. */
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { fastify } from 'fastify'

const database = new DatabaseSync(process.argv[2] ?? '', { returnArrays: true })
const app = fastify()
app.post<{ Body: { query: string; params: (string | number)[] } }>('/execute', async ({ body }) => {
  const begin = performance.now()
  const statement = database.prepare(body.query)
  const rows = statement.all(...body.params)
  return {
    columns: statement.columns().map(({ name }) => name),
    rows,
    row_count: rows.length,
    duration_ms: Math.round(performance.now() - begin),
  }
})
await app.listen({ host: '127.0.0.1', port: 0 })
console.log(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
