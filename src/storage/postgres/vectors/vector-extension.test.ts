import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openStorage } from '#test/support/storage.ts'
import { ensureVectorExtension, extensionSchema } from './vector-extension.ts'

test('only a server without pgvector leaves the vectors of providers to an exact scan', async () => {
  const { platform } = await openStorage()
  const { rows } = await sql`select 1 from pg_available_extensions where name = 'vector'`.execute(platform)
  await ensureVectorExtension(platform)
  expect((await extensionSchema(platform)) !== undefined).toBe(rows.length > 0)
})
