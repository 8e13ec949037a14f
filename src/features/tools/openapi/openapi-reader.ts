import { setImmediate } from 'node:timers/promises'
import { invalid } from '#platform/errors.ts'
import { parseJson } from '#platform/exact-json.ts'
import { WorkerCrashed, type WorkerPool, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import type { ImportedDocument, ImportedOperation } from './imported-document.ts'
import { limits } from './limits.ts'
import type { OpenApiAnswer } from './openapi.worker.ts'
import type { OpenApiInput } from './read-openapi.ts'

const worker = new URL('./openapi.worker.ts', import.meta.url)
/** Characters that take about a millisecond to parse. */
const charactersAtOnce = 200_000

/** Parses a document without blocking the event loop. */
export type OpenApiReader = (input: OpenApiInput, signal?: AbortSignal) => Promise<ImportedDocument>

/** Parses untrusted documents in threads that can be killed. Throws VALIDATION_ERROR for one that can't be read. */
export function createOpenApiReader(workers: WorkerPool, timeoutMs: number = limits.readMs): OpenApiReader {
  return async (input, signal) => {
    const field = 'text' in input ? 'url' : 'spec'
    const answer = await workers
      .run<OpenApiAnswer>({
        file: worker,
        name: 'toolsOfDocument',
        argument: input,
        timeoutMs,
        ...(signal === undefined ? {} : { signal }),
      })
      .catch(refuseIfTooMuch(field))
    return receiveDocument(answer)
  }
}

/** Returns the error for a killed thread: the document is to blame, not the service. */
export function refuseIfTooMuch(field: string) {
  return (error: unknown): never => {
    if (!(error instanceof WorkerTimeout || error instanceof WorkerCrashed)) throw error
    throw invalid(field, 'This document takes too much time or memory to read; give a smaller part of it.')
  }
}

/** Throws VALIDATION_ERROR for a document that was refused. */
export async function receiveDocument(answer: OpenApiAnswer): Promise<ImportedDocument> {
  if (answer.kind === 'refused') throw invalid(answer.field, answer.issue)
  return { ...answer.rest, operations: await parseAll(answer.operations) }
}

async function parseAll(texts: readonly string[]): Promise<ImportedOperation[]> {
  const operations: ImportedOperation[] = []
  let characters = 0
  for (const text of texts) {
    operations.push(parseJson(text))
    characters += text.length
    if (characters < charactersAtOnce) continue
    characters = 0
    await setImmediate()
  }
  return operations
}
