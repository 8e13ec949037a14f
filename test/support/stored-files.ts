import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestApp } from './build-app.ts'

/** Names of an agent's uploads, in its folder or its database. */
export async function storedFiles(
  { service, dataDirectory }: TestApp,
  agentId = 'default',
): Promise<string[]> {
  const folder = join(dataDirectory, 'agents', agentId, 'files')
  const parts = await service.infrastructure.agentDatabases.use(agentId, ({ db }) =>
    db.selectFrom('file_parts').select('file_id').distinct().execute(),
  )
  return [...(existsSync(folder) ? readdirSync(folder) : []), ...parts.map(part => part.file_id)].toSorted()
}
