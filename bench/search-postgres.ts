/**
 * `search` and `search-large` on a PostgreSQL that this starts for itself, which has no pgvector: what those get who may
 * install nothing on their server.
 */
import { spawnSync } from 'node:child_process'
import { startPostgres } from '#test/support/postgres/server.ts'

const server = await startPostgres()
try {
  for (const name of ['search', 'search-large']) {
    console.log(`\n${name} on PostgreSQL without pgvector:`)
    const file = new URL(`./${name}.ts`, import.meta.url).pathname
    const env = { ...process.env, DATABASE_URL: server.url }
    const { status } = spawnSync(process.execPath, [file], { stdio: 'inherit', env })
    if (status !== 0) process.exitCode = 1
  }
} finally {
  await server.stop()
}
