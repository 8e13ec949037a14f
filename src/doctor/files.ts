import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Configuration } from '#configuration/configuration.ts'
import { type Finding, holding } from './finding.ts'

const ownFiles = /^(?:platform\.db|lock\.db)(?:-wal|-shm|-journal)?$|^encryption\.key(?:\.next)?$|^reserve/
const copies =
  /\.(?:db|sqlite3?|sql|dump|bak|backup|old|orig|tar|tgz|zip|gz|bz2|xz|zst|key)$|~$|^encryption\.key/i

/** Returns the faults of files in and beside the data directory; unreadable folders show none. */
export function findInFiles({ dataDirectory, database }: Configuration): Finding[] {
  const root = resolve(dataDirectory)
  if (database !== undefined || !existsSync(root)) return []
  const backups = [...copiesIn(root), ...foldersOfCopies(dirname(root), basename(root))]
  return holding([
    [
      someWritable(root),
      'stranger',
      `Other users of this machine may change files in ${root}.`,
      `Run: chmod -R go-rwx ${root}`,
    ],
    [
      !someWritable(root) && isOpenTo(join(root, 'encryption.key'), 0o044),
      'risk',
      `Other users of this machine may read the key of the stored credentials, ${join(root, 'encryption.key')}.`,
      `Run: chmod 600 ${join(root, 'encryption.key')}`,
    ],
    [
      isOpenTo(join(root, 'platform.db'), 0o044) && isOpenTo(root, 0o011),
      'risk',
      `Other users of this machine may read the data in ${root}.`,
      `Run: chmod -R go-rwx ${root}`,
    ],
    [
      backups.length > 0,
      'risk',
      `Unencrypted copies of data lie on the same disk: ${backups.slice(0, 5).join(', ')}${backups.length > 5 ? ' and more' : ''}.`,
      'Encrypt backups (for example with age or gpg), and keep them on another machine than the key.',
    ],
  ])
}

function someWritable(root: string): boolean {
  return ['', 'platform.db', 'encryption.key', 'agents'].some(name => isOpenTo(join(root, name), 0o022))
}

/** True if the mode has one of the bits; false on systems without such modes. */
function isOpenTo(path: string, bits: number): boolean {
  const mode = process.platform === 'win32' ? undefined : statSync(path, { throwIfNoEntry: false })?.mode
  return mode !== undefined && (mode & bits) !== 0
}

function copiesIn(folder: string): string[] {
  const found = entriesOf(folder).filter(name => !ownFiles.test(name) && copies.test(name))
  return [...found.map(name => join(folder, name)), ...foldersOfCopies(folder, 'agents')]
}

/** Names of folders that people copy data into; another service can have its data beside these. */
const namesOfCopies = /cop(?:y|ies)|back|bak|old|save|snap|archive|\d{4}-?\d\d-?\d\d/i

/** Folders that hold a copy of the platform database. */
function foldersOfCopies(folder: string, except: string): string[] {
  return entriesOf(folder)
    .filter(
      name => name !== except && namesOfCopies.test(name) && existsSync(join(folder, name, 'platform.db')),
    )
    .map(name => join(folder, name))
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
