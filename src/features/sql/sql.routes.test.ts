import { expect, it } from 'vitest'
import { bareServer } from '#test/support/bare-server.ts'
import { registerSqlRoutes } from './sql.routes.ts'
import type { SqlService } from './sql.service.ts'

it('a statement whose client has gone is told to end, and nobody is warned of it', async () => {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const sql: SqlService = {
    describe: async () => ({ tables: [] }),
    execute: (_agent, _statement, signal) => {
      begun.resolve()
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          reject(signal.reason)
          ended.resolve()
        })
      })
    },
  }
  const { app, logged } = await bareServer({ routes: server => registerSqlRoutes(server, sql) })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const client = new AbortController()
  const asked = fetch(`${address}/api/agents/default/sql/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'SELECT 1' }),
    signal: client.signal,
  })
  await begun.promise
  client.abort()
  await expect(asked).rejects.toThrow('aborted')
  await ended.promise
  await new Promise(resolve => setImmediate(resolve))
  expect(logged.filter(({ level }) => Number(level) > 30)).toEqual([])
})
