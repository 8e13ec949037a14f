import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeptFile } from '../responses/kept-file.ts'

/** One entry of `files.json`, which the build of the console writes last. */
interface ListedFile {
  /** Path relative to the folder, with `/`. */
  path: string
  type: string
  /** Hash of the content. */
  hash: string
  /** Endings of the compressed copies beside the file, the smallest first. */
  encodings: readonly Encoding[]
}

type Encoding = 'br' | 'gz'
const names = { br: 'br', gz: 'gzip' } as const

export interface ConsoleFile extends KeptFile {
  /** The value of `Content-Encoding`; undefined for the original file. */
  encoding: string | undefined
}

interface FileList {
  /** Time of writing the list: another build replaces it. */
  modified: number
  files: ReadonlyMap<string, ListedFile>
  /** Contents by the path of the copy, kept from their first use. */
  contents: Map<string, Promise<Buffer>>
}

/**
 * Reads the files of the built console. A path is only looked up in their list, never joined to a folder; a
 * new build is noticed without a restart.
 */
export function createConsoleFiles(folder: string) {
  const listPath = join(folder, 'files.json')
  let known: FileList | undefined

  async function list(): Promise<FileList | undefined> {
    const modified = await stat(listPath).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    )
    if (modified === undefined) return undefined
    if (known?.modified === modified) return known
    const listed = JSON.parse(await readFile(listPath, 'utf8')) as ListedFile[]
    known = { modified, files: new Map(listed.map(file => [file.path, file])), contents: new Map() }
    return known
  }

  return {
    isBuilt: async (): Promise<boolean> => (await list()) !== undefined,
    /** Reads the file in the best encoding that `Accept-Encoding` permits; undefined for unknown paths. */
    async read(path: string, accepted = ''): Promise<ConsoleFile | undefined> {
      const current = await list()
      const file = current?.files.get(path)
      if (current === undefined || file === undefined) return undefined
      const encoding = file.encodings.find(one => accepts(accepted, names[one]))
      const copy = encoding === undefined ? path : `${path}.${encoding}`
      const content = current.contents.get(copy) ?? readFile(join(folder, copy))
      current.contents.set(copy, content)
      const body = await content.catch(() => undefined)
      // A build that replaces this one has begun.
      if (body === undefined) current.contents.delete(copy)
      if (body === undefined) return undefined
      const etag = `"${file.hash}${encoding === undefined ? '' : `-${encoding}`}"`
      return {
        contentType: file.type,
        body,
        etag,
        encoding: encoding === undefined ? undefined : names[encoding],
      }
    },
  }
}

/** Returns true if the header accepts an encoding (RFC 9110, 12.5.3); of weights, only a refusal counts. */
function accepts(header: string, encoding: string): boolean {
  return header
    .split(',')
    .some(part => new RegExp(`^\\s*${encoding}\\s*(?:;(?!\\s*q=0(?:\\.0*)?\\s*$).*)?$`, 'i').test(part))
}
