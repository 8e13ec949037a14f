import { valueAt } from '#platform/json-pointer.ts'
import { isRecord, type JsonRecord, ownValue } from '../calling/values.ts'
import { cleanLine } from './clean-text.ts'
import { limits } from './limits.ts'
import { createLibrary, type OtherDocuments } from './other-documents.ts'

export type Resolved =
  /** `pointers` are the references that led to the value, outermost first. */
  | { ok: true; value: unknown; pointers: string[] }
  /** `problem` is a clause such as "it refers to …"; `isOutside` if the value is in another document. */
  | { ok: false; problem: string; isOutside: boolean }

export interface References {
  isBefore31: boolean
  /**
   * Follows `$ref` to a value without one, also into the other documents. Siblings of a `$ref` count as specified by the
   * document's version.
   */
  resolve(value: unknown): Resolved
  /** Returns addresses of the same origin that were referred to, and are not among the other documents. */
  missing(): string[]
}

const maxShown = 120

type Step = { key: string; value: unknown } | { problem: string; isOutside: boolean }

interface ReferencesOptions {
  isBefore31: boolean
  /** References that begin with the document's own address are internal. */
  documentUrl?: string | undefined
  others?: OtherDocuments | undefined
}

export function createReferences(document: JsonRecord, options: ReferencesOptions): References {
  const { isBefore31, documentUrl, others = new Map() } = options
  const known = new Map<string, unknown>()
  const library = createLibrary(others, documentUrl)

  function lookUp({ key, pointer }: Target, source: unknown): unknown {
    if (!known.has(key)) known.set(key, valueAt(source, pointer))
    return known.get(key)
  }

  /** Returns the target of a reference and its value, or a clause that explains why it can't be followed. */
  function follow(reference: string, passed: readonly string[]): Step {
    const shown = JSON.stringify(cleanLine(reference, maxShown))
    const target = targetOf(reference, documentUrl)
    const source = target?.url === undefined ? { value: document } : library.documentAt(target.url)
    if (target === undefined || 'problem' in source) {
      const reason = 'problem' in source ? `, ${source.problem}` : ''
      return { problem: `it refers to ${shown} outside of the document${reason}`, isOutside: true }
    }
    if (passed.includes(target.key)) return inside(`the reference ${shown} leads to itself`)
    if (passed.length === limits.referenceHops) {
      return inside(`${shown} is at the end of more than ${limits.referenceHops} references`)
    }
    const value = lookUp(target, source.value)
    if (value !== undefined) return { key: target.key, value }
    const problem = `the document has nothing at ${shown}`
    return { problem, isOutside: target.url !== undefined }
  }

  function resolve(value: unknown): Resolved {
    const pointers: string[] = []
    const beside: JsonRecord[] = []
    let current = value
    while (isRecord(current) && typeof ownValue(current, '$ref') === 'string') {
      const next = follow(String(current.$ref), pointers)
      if ('problem' in next) return { ok: false, ...next }
      pointers.push(next.key)
      beside.unshift(siblingsOf(current, isBefore31))
      current = next.value
    }
    return { ok: true, value: withSiblings(current, beside), pointers }
  }

  return { isBefore31, resolve, missing: library.missing }
}

function inside(problem: string): Step {
  return { problem, isOutside: false }
}

/** Returns the siblings of a reference. Before 3.1 they are ignored, except harmless descriptions. */
function siblingsOf(record: JsonRecord, isBefore31: boolean): JsonRecord {
  const names = isBefore31 ? ['summary', 'description'] : Object.keys(record)
  const kept = names.filter(name => name !== '$ref' && Object.hasOwn(record, name))
  return Object.fromEntries(kept.map(name => [name, record[name]]))
}

function withSiblings(value: unknown, beside: readonly JsonRecord[]): unknown {
  const siblings: JsonRecord = Object.assign(Object.create(null), ...beside)
  return isRecord(value) && Object.keys(siblings).length > 0 ? { ...value, ...siblings } : value
}

/** True if a reference leads to something within the document that holds it. */
export function leadsWithin(document: unknown, reference: string): boolean {
  const target = targetOf(reference, undefined)
  return target !== undefined && valueAt(document, target.pointer) !== undefined
}

/** The target of a reference. */
interface Target {
  /** The address of another document; undefined for this one. */
  url: URL | undefined
  pointer: string
  /** A key that differs for each place of each document. */
  key: string
}

/** Returns undefined for a reference into other documents if this one has no address. */
function targetOf(reference: string, documentUrl: string | undefined): Target | undefined {
  if (reference.startsWith('#')) return { url: undefined, pointer: reference.slice(1), key: reference }
  const url = documentUrl === undefined ? null : URL.parse(reference, documentUrl)
  const own = documentUrl === undefined ? null : URL.parse(documentUrl)
  if (url === null || own === null) return undefined
  const { href: key, hash } = url
  const pointer = hash.slice(1)
  url.hash = ''
  own.hash = ''
  return url.href === own.href ? { url: undefined, pointer, key: `#${pointer}` } : { url, pointer, key }
}
