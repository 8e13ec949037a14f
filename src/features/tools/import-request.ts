import { AppError, invalid } from '#platform/errors.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import type { ImportOptions, ImportRequestAnswer } from './import-request.worker.ts'
import type { ImportedDocument } from './openapi/imported-document.ts'
import { limits } from './openapi/limits.ts'
import { receiveDocument, refuseIfTooMuch } from './openapi/openapi-reader.ts'

const worker = new URL('./import-request.worker.ts', import.meta.url)

/** Either an address to fetch the document from, or the document. */
export type ImportRequest = { options: ImportOptions } & (
  | { url: string; document?: never }
  | { document: ImportedDocument; url?: never }
)

export type ReadImportRequest = (body: Uint8Array, signal: AbortSignal) => Promise<ImportRequest>

/** Reads bodies of imports in threads. Throws MALFORMED_JSON or VALIDATION_ERROR. */
export function createImportRequestReader(workers: WorkerPool): ReadImportRequest {
  return async (body, signal) => {
    const task = { file: worker, name: 'readImportBody', argument: body, timeoutMs: limits.readMs, signal }
    const answer = await workers.run<ImportRequestAnswer>(task).catch(refuseIfTooMuch('spec'))
    if (answer.kind === 'malformed')
      throw new AppError('MALFORMED_JSON', 'The body is not valid JSON. Send {"url": …} or {"spec": …}.')
    if (answer.kind === 'refused') throw invalid(answer.field, answer.issue)
    const { options } = answer
    if (answer.kind === 'fetch') return { url: answer.url, options }
    return { document: await receiveDocument(answer.answer), options }
  }
}
