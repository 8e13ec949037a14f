/** Turns an OpenAPI 3.0 or 3.1 document into tools. Pure; in the service it runs in `openapi.worker.ts`. */
import { invalid } from '#platform/errors.ts'
import { isRecord, type JsonRecord, ownValue } from '../calling/values.ts'
import { checkVersion } from './check-version.ts'
import { cleanLine } from './clean-text.ts'
import { entriesOf } from './convert-schema.ts'
import type {
  ImportedDocument,
  ImportedOperation,
  ImportWarning,
  SkippedOperation,
} from './imported-document.ts'
import { limits } from './limits.ts'
import { createNames, type Names } from './names.ts'
import type { OtherDocuments } from './other-documents.ts'
import { parseText } from './parse-text.ts'
import { type ReadContext, readOperation } from './read-operation.ts'
import { createReferences } from './references.ts'
import { createSecurity } from './security.ts'

/** The text as fetched, or a parsed document. */
export type OpenApiInput = ({ text: string } | { document: unknown }) & {
  /** The address of the document after redirects; relative servers are resolved against it. */
  documentUrl?: string
  /** The fetched documents that this one refers to. */
  others?: OtherDocuments
}

const methods = ['get', 'post', 'put', 'delete', 'patch', 'head', 'options', 'trace'] as const
type MethodKey = (typeof methods)[number]
const maxLabelLength = 300

/** Throws VALIDATION_ERROR, for the field `url` or `spec`, unless this is an OpenAPI 3 document. */
export function readOpenApi(input: OpenApiInput): ImportedDocument {
  const parsed = 'text' in input ? parseText(input.text) : { ok: true as const, value: input.document }
  const checked = parsed.ok ? checkVersion(parsed.value) : parsed
  if (!checked.ok) throw invalid('text' in input ? 'url' : 'spec', checked.issue)
  return readDocument(checked.document, checked.isBefore31, input)
}

interface Collected {
  operations: ImportedOperation[]
  skipped: SkippedOperation[]
  warnings: ImportWarning[]
  characters: number
  names: Names
  /** Number of operations beyond the limits. */
  surplus: number
}

function readDocument(document: JsonRecord, isBefore31: boolean, input: OpenApiInput): ImportedDocument {
  const { documentUrl, others } = input
  const references = createReferences(document, { isBefore31, documentUrl, others })
  const security = createSecurity(document, references)
  const effort = { characters: limits.describedCharacters }
  const context: ReadContext = { references, security, document, documentUrl, effort }
  const collected: Collected = {
    operations: [],
    skipped: [],
    warnings: [],
    characters: 0,
    names: createNames(),
    surplus: 0,
  }
  for (const [path, item] of entriesOf(ownValue(document, 'paths'))) readPath(context, collected, path, item)
  const title = ownValue(ownValue(document, 'info'), 'title')
  return {
    title: typeof title === 'string' ? cleanLine(title, limits.nameCharacters) : '',
    operations: collected.operations,
    ...reports(collected),
    securitySchemes: security.used(),
    missing: references.missing(),
  }
}

function readPath(context: ReadContext, collected: Collected, path: string, item: unknown): void {
  if (path.startsWith('x-')) return
  const skip = (reason: string, operation = labelOf(path)) => collected.skipped.push({ operation, reason })
  if (!path.startsWith('/')) return void skip('A path begins with "/".')
  const found = context.references.resolve(item)
  if (!found.ok) return void skip(`The operations of this path are not known: ${found.problem}.`)
  if (!isRecord(found.value)) return void skip('What stands at this path is not an object.')
  for (const [key, operation] of Object.entries(found.value)) {
    const method = methods.find(one => one === key.toLowerCase())
    if (method === undefined) {
      if (key === 'query' || key === 'additionalOperations') {
        skip(
          'Only the methods of OpenAPI 3.0 and 3.1 can be imported.',
          `${key.toUpperCase()} ${labelOf(path)}`,
        )
      }
      continue
    }
    const label = `${method.toUpperCase()} ${labelOf(path)}`
    if (key !== method) skip('The name of a method is written in lower case.', label)
    else readMethod(context, collected, { method, path, label, operation, item: found.value })
  }
}

/** An operation can itself be a reference, as in documents that are split into files. */
function readMethod(
  context: ReadContext,
  collected: Collected,
  found: Omit<Found, 'operation'> & { operation: unknown },
): void {
  const resolved = context.references.resolve(found.operation)
  if (resolved.ok && isRecord(resolved.value))
    addOperation(context, collected, { ...found, operation: resolved.value })
  else
    collected.skipped.push({
      operation: found.label,
      reason: resolved.ok
        ? 'What stands at this method is not an object.'
        : `The operation is not known: ${resolved.problem}.`,
    })
}

interface Found {
  method: MethodKey
  path: string
  label: string
  operation: JsonRecord
  item: JsonRecord
}

function addOperation(context: ReadContext, collected: Collected, found: Found): void {
  const { method, path, label, operation, item } = found
  const isFull =
    collected.operations.length === limits.operations || collected.characters > limits.totalCharacters
  if (isFull) {
    collected.surplus += 1
    return
  }
  const read = readOperation(context, { method, path, operation, item })
  if (!read.ok) {
    collected.skipped.push({ operation: label, reason: sentence(read.reason) })
    return
  }
  const named = collected.names.take(ownValue(operation, 'operationId'), method, path)
  collected.operations.push({ name: named.name, ...read.tool })
  collected.characters += JSON.stringify(read.tool).length
  for (const warning of [...named.warnings, ...read.warnings])
    collected.warnings.push({ operation: label, warning })
}

/** Returns the reports; a long one ends with a note on its omissions. */
function reports({ skipped, warnings, surplus }: Collected): Pick<ImportedDocument, 'skipped' | 'warnings'> {
  const shownSkipped = skipped.slice(0, limits.skipped)
  const shownWarnings = warnings.slice(0, limits.warnings)
  const further = skipped.length - shownSkipped.length
  if (further > 0) shownSkipped.push({ operation: `${further} more`, reason: 'For reasons like these.' })
  if (surplus > 0) {
    const reason = `A document may bring ${limits.operations} tools and ${limits.totalCharacters} characters of their configuration; split it.`
    shownSkipped.push({ operation: `${surplus} more operations`, reason })
  }
  const silent = warnings.length - shownWarnings.length
  if (silent > 0) shownWarnings.push({ warning: `There are ${silent} more warnings like these.` })
  return { skipped: shownSkipped, warnings: shownWarnings }
}

function labelOf(path: string): string {
  return cleanLine(path, maxLabelLength)
}

function sentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`
}
