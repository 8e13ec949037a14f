import { readdirSync, statSync } from 'node:fs'
import { type Kysely, sql } from 'kysely'
import type { Log } from '#platform/logging/log.ts'
import type { PlatformTables } from '../tables.ts'
import type { DataDirectory } from './connections/data-directory.ts'
import { damagedFile } from './connections/errors.ts'

/** Returns true if the file of a database is missing or empty, as no intact one is. */
export function isLost(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0
}

/** @throws AppError `DATA_DAMAGED` if the file is missing or empty. */
export function requireFile(path: string): void {
  if (isLost(path)) throw damagedFile(path, 'is missing or empty')
}

/** @throws Error with a sentence for the operator if a new platform database would disown agents. */
export function requirePlatform({ agents, platformDatabase }: DataDirectory): void {
  const count =
    isLost(platformDatabase) && statSync(agents, { throwIfNoEntry: false }) ? readdirSync(agents).length : 0
  if (count > 0)
    throw new Error(
      `${platformDatabase}, which lists the agents, is missing or empty, but ${agents} holds folders of agents (${count}). ` +
        'Put the file back from a backup, or set ACCEPT_LOST_DATA=true to start without these agents.',
    )
}

/** Max paths of files that a line of the log names. */
const namedAtOnce = 100

/**
 * Checks the whole platform database at the start, and only the existence of each agent's.
 * @throws AppError `DATA_DAMAGED` for the platform database; lost files of agents are only logged.
 */
export async function checkFiles(
  platform: Kysely<PlatformTables>,
  { platformDatabase, agentDatabase }: DataDirectory,
  log: Log,
): Promise<void> {
  const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(platform)
  if (rows[0]?.quick_check !== 'ok') throw damagedFile(platformDatabase, 'is damaged')
  const agents = await platform.selectFrom('agents').select('id').where('has_database', '=', 1).execute()
  const files = agents.map(({ id }) => agentDatabase(id)).filter(isLost)
  if (files.length > 0)
    log.fatal(
      { files: files.slice(0, namedAtOnce), count: files.length },
      'files of agents are missing or empty',
    )
}
