/** Runs in a thread of the worker pool; the other side is `import-request.ts`. */
import { AppError } from '#platform/errors.ts'
import { mayBeInexact, parseJson } from '#platform/exact-json.ts'
import { nearMissOf } from '#platform/http/requests/near-misses.ts'
import { requireStorableJson } from '#platform/http/requests/storable-text.ts'
import { problemOf } from '#platform/schema-check.ts'
import { problemFrom } from '#platform/schema-problem.ts'
import { type ImportBody, importBodySchema } from './import.schema.ts'
import { type OpenApiAnswer, toolsOfDocument } from './openapi/openapi.worker.ts'

/** The settings for the new tools, for any document. */
export type ImportOptions = Omit<ImportBody, 'url' | 'spec'>

export type ImportRequestAnswer =
  | { kind: 'fetch'; url: string; options: ImportOptions }
  | { kind: 'document'; answer: OpenApiAnswer; options: ImportOptions }
  | { kind: 'malformed' }
  | { kind: 'refused'; field: string; issue: string }

/** Reads the body of an import with the document that it can contain, which is too large for the event loop. */
export async function readImportBody(bytes: Uint8Array): Promise<ImportRequestAnswer> {
  const text = new TextDecoder().decode(bytes)
  const parsed = parse(text)
  if (parsed === undefined) return { kind: 'malformed' }
  const { url, spec, ...options } = (parsed.value ?? {}) as ImportBody
  const refusal = refusalOf(text, parsed.value)
  if (refusal !== undefined) return { kind: 'refused', ...refusal }
  if (url !== undefined) return { kind: 'fetch', url, options }
  const answer = await toolsOfDocument(
    typeof spec === 'string'
      ? { text: spec }
      : { document: mayBeInexact(text) ? parseJson(text).spec : spec },
  )
  return {
    kind: 'document',
    answer: answer.kind === 'refused' ? { ...answer, field: 'spec' } : answer,
    options,
  }
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function refusalOf(text: string, body: unknown): { field: string; issue: string } | undefined {
  const nearMiss = nearMissOf(importBodySchema, body)
  const problem = nearMiss === undefined ? problemOf(importBodySchema, body) : problemFrom(nearMiss)
  if (problem !== undefined) return { field: problem.field || 'body', issue: problem.issue }
  const { url, spec, ...options } = body as ImportBody
  if ((url === undefined) === (spec === undefined))
    return { field: url === undefined ? 'url' : 'spec', issue: 'give either url or spec, and not both' }
  return unstorable(text, { url, ...options })
}

/** The document's own texts are cleaned where they are read. */
function unstorable(text: string, body: unknown) {
  try {
    requireStorableJson(text, body)
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { field: String(error.details?.field), issue: String(error.details?.issue) }
  }
}
