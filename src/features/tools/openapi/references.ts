import type { JsonRecord } from '../calling/values.ts'
import { isRecord, ownValue } from '../calling/values.ts'
import { cleanLine } from './clean-text.ts'
import { limits } from './limits.ts'

export type Resolved =
  /** `pointers` are the references that led to the value, outermost first. */
  | { ok: true; value: unknown; pointers: string[] }
  /** `problem` is a clause such as "it refers to …". */
  | { ok: false; problem: string }

export interface References {
  isBefore31: boolean
  /**
   * Follows `$ref` within the document until there is none. Siblings of a `$ref` count as specified by the document's
   * version.
   */
  resolve(value: unknown): Resolved
}

const longestShown = 120
const missing = Symbol('missing')

interface ReferencesOptions {
  isBefore31: boolean
  /** References that begin with the document's own address are internal. */
  documentUrl?: string | undefined
}

export function createReferences(document: JsonRecord, options: ReferencesOptions): References {
  const { isBefore31, documentUrl } = options
  const known = new Map<string, unknown>()

  function lookUp(pointer: string): unknown {
    if (!known.has(pointer)) known.set(pointer, valueAt(document, pointer))
    return known.get(pointer)
  }

  /** Why a reference cannot be followed, as a clause; otherwise its pointer. */
  function nextPointer(
    reference: string,
    passed: readonly string[],
  ): { pointer: string } | { problem: string } {
    const pointer = pointerOf(reference, documentUrl)
    const shown = JSON.stringify(cleanLine(reference, longestShown))
    if (pointer === undefined) return { problem: `it refers to ${shown} outside of the document` }
    if (passed.includes(pointer)) return { problem: `the reference ${shown} leads to itself` }
    if (passed.length === limits.referenceHops) {
      return { problem: `${shown} is at the end of more than ${limits.referenceHops} references` }
    }
    return lookUp(pointer) === missing ? { problem: `the document has nothing at ${shown}` } : { pointer }
  }

  function resolve(value: unknown): Resolved {
    const pointers: string[] = []
    const beside: JsonRecord[] = []
    let current = value
    while (isRecord(current) && typeof ownValue(current, '$ref') === 'string') {
      const next = nextPointer(String(current.$ref), pointers)
      if ('problem' in next) return { ok: false, problem: next.problem }
      pointers.push(next.pointer)
      beside.unshift(siblingsOf(current, isBefore31))
      current = lookUp(next.pointer)
    }
    return { ok: true, value: withSiblings(current, beside), pointers }
  }

  return { isBefore31, resolve }
}

/** Before 3.1, siblings of a reference are ignored; descriptions are used all the same, since they can do no harm. */
function siblingsOf(record: JsonRecord, isBefore31: boolean): JsonRecord {
  const names = isBefore31 ? ['summary', 'description'] : Object.keys(record)
  const kept = names.filter(name => name !== '$ref' && Object.hasOwn(record, name))
  return Object.fromEntries(kept.map(name => [name, record[name]]))
}

function withSiblings(value: unknown, beside: readonly JsonRecord[]): unknown {
  const siblings: JsonRecord = Object.assign(Object.create(null), ...beside)
  return isRecord(value) && Object.keys(siblings).length > 0 ? { ...value, ...siblings } : value
}

/** Whether a reference leads to something within the document that holds it. */
export function leadsWithin(document: unknown, reference: string): boolean {
  const pointer = pointerOf(reference, undefined)
  return pointer !== undefined && valueAt(document, pointer) !== missing
}

/** The pointer of a reference into this document; undefined for one that leads elsewhere. */
function pointerOf(reference: string, documentUrl: string | undefined): string | undefined {
  if (reference.startsWith('#')) return reference.slice(1)
  const target = documentUrl === undefined ? null : URL.parse(reference, documentUrl)
  const own = documentUrl === undefined ? null : URL.parse(documentUrl)
  if (target === null || own === null) return undefined
  const pointer = target.hash.slice(1)
  target.hash = ''
  own.hash = ''
  return target.href === own.href ? pointer : undefined
}

/** A JSON pointer (RFC 6901) in its URI form. */
function valueAt(document: unknown, pointer: string): unknown {
  if (pointer === '') return document
  if (!pointer.startsWith('/')) return missing
  let current = document
  for (const part of pointer.slice(1).split('/')) {
    const name = decodePart(part)
    if (name === undefined) return missing
    const next: unknown = Array.isArray(current) ? itemAt(current, name) : ownValue(current, name)
    if (next === undefined) return missing
    current = next
  }
  return current
}

function itemAt(list: unknown[], name: string): unknown {
  return /^(?:0|[1-9]\d{0,8})$/.test(name) ? list[Number(name)] : undefined
}

function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}
