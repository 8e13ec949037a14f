/**
 * The least that can answer with a source: a Fastify without anything and a prepared statement. Parameters: the path of
 * an agent's database.
 */
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { fastify } from 'fastify'
import { sourceSchema } from '#features/sources/sources.schema.ts'

const database = new DatabaseSync(process.argv[2] ?? '', { readOnly: true })
const statement = database.prepare(
  'select id, type, name, status, progress, chunks, file_path, config, created_at, updated_at from sources where id = ?',
)
const app = fastify()
app.get<{ Params: { id: string } }>(
  '/sources/:id',
  { schema: { response: { 200: sourceSchema } } },
  async request => {
    const row = statement.get(request.params.id)
    return { ...row, config: JSON.parse(String(row?.config)) }
  },
)
await app.listen({ host: '127.0.0.1', port: 0 })
console.log(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
