import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError, invalid } from '#platform/errors.ts'
import type { Ids } from '#platform/ids.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import { parseTarget } from '#platform/outbound/target-url.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { type CredentialScheme, listCredentials, putSchemes } from './credentials.repository.ts'
import { toPublicCredential } from './credentials.service.ts'
import type { ImportAnswer } from './import.schema.ts'
import type { ReadImportRequest } from './import-request.ts'
import type { ImportOptions } from './import-request.worker.ts'
import { mergeImport } from './merge-import.ts'
import type { ImportedDocument } from './openapi/imported-document.ts'
import type { OpenApiReader } from './openapi/openapi-reader.ts'
import { readWithOthers } from './openapi/read-with-others.ts'
import type { DescribedScheme } from './openapi/security.ts'
import { toPublic } from './tool-store.ts'
import { listCluster, putTools } from './tools.repository.ts'

const fetchTimeoutMs = 30_000
/** The cluster for the tools of a document without a title. */
const unnamedCluster = 'OpenAPI'

interface Dependencies {
  readRequest: ReadImportRequest
  readDocument: OpenApiReader
  outbound: Outbound
  /** Max size of a fetched document. */
  maxBytes: number
  clock: Clock
  ids: Ids
}

type ImportOutcome = ImportAnswer & { isStored: boolean }

/** Creates tools from the operations of OpenAPI documents. */
export function createImportService(needs: Dependencies) {
  const { readRequest, readDocument, outbound, maxBytes, clock, ids } = needs

  async function fetchDocument(url: string, signal: AbortSignal): Promise<ImportedDocument> {
    const target = parseTarget(url)
    if (!target.ok) throw invalid('url', target.reason)
    const accept = 'application/json, application/yaml;q=0.9, */*;q=0.5'
    const limits = { timeoutMs: fetchTimeoutMs, maxBytes, signal }
    const answer = await outbound.fetch(url, { ...limits, headers: { accept } }).catch(refuseAddress)
    if (answer.status >= 400)
      throw invalid('url', `this address answered with status ${answer.status} instead of a document`)
    const document = { text: answer.text(), documentUrl: answer.url }
    return readWithOthers({ read: readDocument, outbound }, document, signal)
  }

  async function store(
    agent: AgentHandle,
    document: ImportedDocument,
    { cluster, requiresApproval = false, names, preview = false }: ImportOptions & { cluster: string },
  ): Promise<ImportOutcome> {
    const by = { cluster, requiresApproval, names, at: timestamp(clock), newId: ids.record }
    const schemes = document.securitySchemes.map(schemeOf)
    return inTransaction(agent.db, async transaction => {
      const merged = mergeImport(await listCluster(transaction, cluster), document, by)
      if (!preview) {
        await putTools(transaction, merged.tools)
        await putSchemes(transaction, cluster, schemes, by.at)
      }
      const stored = await listCredentials(transaction, cluster)
      const known = new Map(stored.map(credential => [credential.scheme.name, credential]))
      const credentials = preview
        ? schemes.map(scheme => known.get(scheme.name) ?? { scheme, secretSet: null })
        : stored
      return {
        isStored: !preview,
        data: merged.tools.map(toPublic),
        skipped: [...document.skipped, ...merged.skipped],
        warnings: [...document.warnings, ...merged.warnings],
        credentials: credentials.map(credential => toPublicCredential(credential, merged.tools)),
      }
    })
  }

  return {
    /** @param body the request's body as it arrived: JSON with the document or its address. */
    async import(agent: AgentHandle, body: Uint8Array, signal: AbortSignal): Promise<ImportOutcome> {
      const { url, document: given, options } = await readRequest(body, signal)
      const document = given ?? (await fetchDocument(url, signal))
      const { cluster = document.title === '' ? unnamedCluster : document.title } = options
      return store(agent, document, { ...options, cluster })
    },
  }
}

/** Reports an address that yields no document as the caller's mistake. */
function refuseAddress(error: unknown): never {
  if (error instanceof AppError && error.code === 'OUTBOUND_FAILED') throw invalid('url', error.message)
  throw error
}

export type ImportService = ReturnType<typeof createImportService>

function schemeOf({ scheme, type, in: place, name, description }: DescribedScheme): CredentialScheme {
  return {
    name: scheme,
    type,
    ...(place === undefined ? {} : { in: place }),
    ...(name === undefined ? {} : { parameter: name }),
    ...(description === undefined ? {} : { description }),
  }
}
