import { AppError } from '#platform/errors.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import type { ImportedDocument } from './imported-document.ts'
import { limits } from './limits.ts'
import type { OpenApiReader } from './openapi-reader.ts'

interface Dependencies {
  read: OpenApiReader
  outbound: Pick<Outbound, 'fetch'>
}

/**
 * Reads a document and the documents of its origin that it refers to: documents missing in one reading are fetched before
 * the next. Operations whose documents can't be fetched are skipped.
 */
export async function readWithOthers(
  { read, outbound }: Dependencies,
  document: { text: string; documentUrl: string },
  signal: AbortSignal,
): Promise<ImportedDocument> {
  const others = new Map<string, { text: string } | { problem: string }>()
  const deadline = AbortSignal.timeout(limits.gatherMs)
  let bytesLeft: number = limits.otherBytes

  async function fetchOther(url: string): Promise<{ text: string } | { problem: string }> {
    if (bytesLeft <= 0) return { problem: tooMuch }
    try {
      // Each redirect could lead to another origin.
      const rules = { maxRedirects: 0, timeoutMs: limits.otherMs, maxBytes: bytesLeft, signal }
      const { status, body, text } = await outbound.fetch(url, rules)
      if (status >= 400) return { problem: `which answered with status ${status}` }
      bytesLeft -= body.byteLength
      return bytesLeft < 0 ? { problem: tooMuch } : { text: text() }
    } catch (error) {
      if (!(error instanceof AppError) || signal.aborted) throw error
      return { problem: `which can't be fetched: ${error.message.replace(/\.$/, '')}` }
    }
  }

  for (;;) {
    const imported = await read({ ...document, others }, signal)
    const wanted = imported.missing.slice(0, limits.otherDocuments - others.size)
    if (wanted.length === 0 || deadline.aborted) return imported
    for (let at = 0; at < wanted.length && !deadline.aborted; at += limits.othersAtOnce) {
      const together = wanted.slice(at, at + limits.othersAtOnce)
      const fetched = await Promise.all(together.map(async url => [url, await fetchOther(url)] as const))
      for (const [url, other] of fetched) others.set(url, other)
    }
  }
}

const tooMuch = `beyond the limit of ${limits.otherBytes / 1024 / 1024} MB for all such documents`
