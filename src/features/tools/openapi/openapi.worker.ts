/** Runs in a thread of the worker pool; the other side is `openapi-reader.ts`. */
import { AppError } from '#platform/errors.ts'
import type { ImportedDocument } from './imported-document.ts'
import type { OpenApiInput } from './read-openapi.ts'

/** Operations are passed as JSON texts, which cost the receiving thread almost nothing until each is parsed. */
export type OpenApiAnswer =
  | { kind: 'read'; operations: string[]; rest: Omit<ImportedDocument, 'operations'> }
  /** Errors are passed as data, because they would lose their code between threads. */
  | { kind: 'refused'; field: string; issue: string }

export async function toolsOfDocument(input: OpenApiInput): Promise<OpenApiAnswer> {
  const { readOpenApi } = await import('./read-openapi.ts')
  try {
    const { operations, ...rest } = readOpenApi(input)
    return { kind: 'read', operations: operations.map(operation => JSON.stringify(operation)), rest }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { kind: 'refused', field: String(error.details?.field), issue: String(error.details?.issue) }
  }
}
