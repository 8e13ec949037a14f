import { chmodSync, writeFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { conflict } from '#platform/errors.ts'
import { makeDataFolder, ownerOnly, unusableFolder } from '../../data-folder.ts'
import { isBusy } from './errors.ts'

/** The folder with all data of an embedded process, which only one process may use at a time. */
export interface DataDirectory {
  path: string
  platformDatabase: string
  encryptionKey: string
  /** The folder of the agents' folders. */
  agents: string
  agentDatabase(agentId: string): string
  /** Creates the file of the platform database if it is missing, readable by its owner only. */
  preparePlatform(): void
  /** Creates the agent's folders if they are missing. */
  prepareAgent(agentId: string): Promise<AgentPaths>
  removeAgent(agentId: string): Promise<void>
  /** Releases the folder for another process; can be called more than once. */
  close(): void
}

interface AgentPaths {
  database: string
  files: string
}

const fileOfOwner = 0o600

/** Lower case only, because some file systems are case-insensitive; no dots or separators. */
const agentIdPattern = /^[a-z0-9][a-z0-9-]{0,63}$/

/**
 * Creates the folder if it is missing, readable by its owner only, and locks it for this process. Where the operator made it
 * and lets others enter, they can read nothing in it either.
 * @throws AppError `CONFLICT` while another process uses it; an error with a sentence if the folder cannot be created.
 */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const root = resolve(path)
  await makeDataFolder(root)
  const lock = takeLock(root)
  const platformDatabase = join(root, 'platform.db')
  const agents = join(root, 'agents')
  const agentDatabase = (agentId: string) => join(agentFolder(agents, agentId), 'agent.db')

  return {
    path: root,
    platformDatabase,
    encryptionKey: join(root, 'encryption.key'),
    agents,
    agentDatabase,

    preparePlatform() {
      // SQLite makes the files beside it as readable as this one.
      writeFileSync(platformDatabase, '', { flag: 'a', mode: fileOfOwner })
      closeToOthers(platformDatabase)
    },

    async prepareAgent(agentId) {
      const files = join(agentFolder(agents, agentId), 'files')
      await mkdir(files, { recursive: true, mode: ownerOnly })
      return { database: agentDatabase(agentId), files }
    },

    async removeAgent(agentId) {
      await rm(agentFolder(agents, agentId), { recursive: true, force: true, maxRetries: 3 })
    },

    close() {
      if (lock.isOpen) lock.close()
    },
  }
}

function agentFolder(agents: string, agentId: string): string {
  if (!agentIdPattern.test(agentId)) throw new Error(`not an agent id: ${JSON.stringify(agentId)}`)
  return join(agents, agentId)
}

/** Changes the file's mode by its name: closing a file that SQLite has open takes its locks away. */
function closeToOthers(path: string): void {
  try {
    chmodSync(path, fileOfOwner)
  } catch {
    // The file belongs to another user, who decides who reads it.
  }
}

/** An open exclusive transaction is a lock of the operating system, which releases it however the process ends. */
function takeLock(root: string): DatabaseSync {
  const lock = openLock(root)
  try {
    lock.exec('begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw unusableFolder(root, error)
    throw conflict(
      `The data directory ${root} is in use by another process. Stop that process, or set DATA_DIR to another folder.`,
    )
  }
}

function openLock(root: string): DatabaseSync {
  try {
    const path = join(root, 'lock.db')
    const lock = new DatabaseSync(path)
    closeToOthers(path)
    return lock
  } catch (error) {
    throw unusableFolder(root, error)
  }
}
