/**
 * The least that can answer with a source from PostgreSQL: a Fastify without anything, and the two statements that the
 * service runs for a user, through `pg`. Parameters: the database's address, the agent's id, the user's e-mail.
 */
import type { AddressInfo } from 'node:net'
import { fastify } from 'fastify'
import pg from 'pg'
import { sourceSchema } from '#features/sources/sources.schema.ts'

const [connectionString, agentId, email] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString, max: 10 })
const schema = `"agent_${agentId}"`
const app = fastify()
app.get<{ Params: { id: string } }>(
  '/sources/:id',
  { schema: { response: { 200: sourceSchema } } },
  async request => {
    await pool.query(
      `select agent_admins.role from agentstead.agents left join agentstead.agent_admins
        on agent_admins.agent_id = agents.id and agent_admins.email = $1 where agents.id = $2`,
      [email, agentId],
    )
    const { rows } = await pool.query(
      `select id, type, name, status, error, progress, chunks, file_path, config, created_at, updated_at
        from ${schema}.sources where id = $1 and removed_at is null`,
      [request.params.id],
    )
    const [row] = rows
    return { ...row, error: row.error ?? undefined, config: JSON.parse(row.config) }
  },
)
await app.listen({ host: '127.0.0.1', port: 0 })
console.log(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
