import { databaseName, openDatabaseEnd } from '../postgres/transfer/storage-end.ts'
import { directoryName, openDirectoryEnd } from '../sqlite/transfer/storage-end.ts'
import type { StorageEnd } from './storage-end.ts'

export type Address = { kind: 'directory'; path: string } | { kind: 'database'; url: string }

/** Returns undefined for anything but a folder or the address of a database. */
export function parseAddress(text: string): Address | undefined {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text))
    return text === '' ? undefined : { kind: 'directory', path: text }
  if (!/^postgres(ql)?:/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text).pathname.length < 2 ? undefined : { kind: 'database', url: text }
}

interface Ends {
  source: StorageEnd
  target: StorageEnd
}

/**
 * Opens the source, which must exist, and the target, and closes them after the work.
 * @throws Error with a sentence for the operator.
 */
export async function withEnds(
  from: Address,
  to: Address,
  work: (ends: Ends) => Promise<void>,
): Promise<void> {
  if (nameOf(from) === nameOf(to)) throw new Error('source and target are the same.')
  const source = await openEnd(from, { mustExist: true })
  try {
    const target = await openEnd(to, { mustExist: false })
    try {
      await work({ source, target })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

function nameOf(address: Address): string {
  return address.kind === 'directory' ? directoryName(address.path) : databaseName(address.url)
}

function openEnd(address: Address, options: { mustExist: boolean }): Promise<StorageEnd> {
  return address.kind === 'directory'
    ? openDirectoryEnd(address.path, options)
    : openDatabaseEnd(address.url, options)
}
