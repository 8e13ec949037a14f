import { UnreadableDocument } from '../../parsed-document.ts'
import { all, parseXml, type XmlElement } from './word-xml.ts'

/** A reference of a part of a document, or of its author. */
export interface Relation {
  id: string
  /** Last part of its type's name, such as `chart`. */
  type: string
  /** Name of a part, or an address if `isExternal`. */
  target: string
  isExternal: boolean
}

/** The parts of a document, by their names. */
export interface WordPackage {
  main: string
  has(name: string): boolean
  bytes(name: string): Uint8Array | undefined
  /** Reads a part; undefined, with a warning, if it is missing or damaged. */
  xml(name: string): XmlElement | undefined
  relations(name: string): Relation[]
  /** Returns the names of the document's parts of this type, or else of those with such names. */
  partsOf(type: string): string[]
  contentType(name: string): string
}

/** Pictures, objects and fonts, which are not searched for text. */
const unread = /(?:^|\/)(?:media|embeddings|fonts)\//

export async function openPackage(archive: Uint8Array, warn: (text: string) => void): Promise<WordPackage> {
  const { default: Zip } = await import('jszip')
  const { files } = await Zip.loadAsync(archive)
  const contents = new Map<string, Uint8Array>()
  for (const [name, file] of Object.entries(files))
    if (!unread.test(name)) contents.set(name, await file.async('uint8array'))

  function read(name: string): XmlElement | undefined {
    const bytes = contents.get(name)
    return bytes && parseXml(new TextDecoder().decode(bytes))
  }

  const relations = (name: string): Relation[] => {
    const [, folder = '', file = ''] = /^(.*\/)?([^/]*)$/.exec(name) ?? []
    const root = read(`${folder}_rels/${file}.rels`)
    return all(root, 'rel:Relationship').map(({ attributes }) => {
      const { Id: id = '', Type: type = '', Target: target = '', TargetMode: mode } = attributes
      const isExternal = mode === 'External' || /^[a-z][\w+.-]*:/i.test(target)
      const place = isExternal ? target : partAt(target, name)
      return { id, type: type.slice(type.lastIndexOf('/') + 1), target: place, isExternal }
    })
  }

  const main = relations('').find(({ type }) => type === 'officeDocument')?.target ?? ''
  const related = relations(main)
  const types = read('[Content_Types].xml')
  const typeOf = (kind: string, key: string, value: string) =>
    all(types, kind).find(({ attributes }) => attributes[key]?.toLowerCase() === value.toLowerCase())
      ?.attributes.ContentType
  return {
    main: contents.has(main) ? main : 'word/document.xml',
    has: name => contents.has(name),
    bytes: name => contents.get(name),
    xml(name) {
      try {
        const root = read(name)
        if (root !== undefined) return root
      } catch (error) {
        if (!(error instanceof UnreadableDocument)) throw error
      }
      warn(`A part of this document (${name}) is missing or damaged.`)
      return undefined
    },
    relations,
    partsOf(kind) {
      const named = related.filter(({ type, isExternal }) => type === kind && !isExternal)
      if (named.length > 0) return [...new Set(named.map(({ target }) => target))].sort()
      const alike = new RegExp(`^word/${kind}\\d*\\.xml$`)
      return [...contents.keys()].filter(name => alike.test(name)).sort()
    },
    contentType: name =>
      typeOf('type:Override', 'PartName', `/${name}`) ??
      typeOf('type:Default', 'Extension', name.slice(name.lastIndexOf('.') + 1)) ??
      '',
  }
}

/** Returns the name of a part that another one refers to by a relative address. */
function partAt(target: string, from: string): string {
  const { pathname = '' } = URL.parse(target, `zip:///${from}`) ?? {}
  return pathname.replace(/^\//, '').replaceAll('%20', ' ')
}
