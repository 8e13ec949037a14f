import { chunkingOf } from '#documents/chunking/chunking-form.ts'
import type { SourceEvents } from '#features/knowledge/knowledge.events.ts'
import { timestamp } from '#platform/clock.ts'
import { AppError, invalid } from '#platform/errors.ts'
import type { ChangeContext } from '#platform/jobs/jobs.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import { parseTarget } from '#platform/outbound/target-url.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import { issueOf, type SelectRows } from './fetching/run-query.ts'
import { maskedHeaders, requireHeaders, sealedPart } from './fetching/source-headers.ts'
import { fetchJobName, sourceJob } from './jobs/source-jobs.ts'
import type { NewApi, NewDatabase } from './new-fetched.schema.ts'
import { insertSource } from './sources.repository.ts'
import type { ApiConfig, DatabaseConfig, Source } from './sources.schema.ts'
import { storableName } from './storable-name.ts'

interface Dependencies extends ChangeContext<SourceEvents> {
  /** Throws the reason if the agent's documents cannot be embedded, such as MODEL_NOT_CONFIGURED. */
  requireEmbedding(agentId: string): Promise<unknown>
  select: SelectRows
  outbound: Pick<Outbound, 'requirePermitted'>
  agentSecrets: AgentSecrets
}

/** Sources with content from the agent's own database or a URL, fetched at once and at each refresh. */
export function createFetchedSourcesService(dependencies: Dependencies) {
  const { transact, select, outbound, agentSecrets, clock, ids } = dependencies

  async function requireQuery(agent: AgentHandle, query: string, signal: AbortSignal): Promise<void> {
    // One row is enough to check the statement; the job reads all rows.
    await select(agent, { query, maxRows: 1 }, signal).catch(error => {
      if (!(error instanceof AppError)) throw error
      if (error.code === 'VALIDATION_ERROR' || error.code === 'FORBIDDEN')
        throw invalid('query', issueOf(error))
      // A failure of execution might be temporary: the source will report it.
      if (error.code !== 'SQL_FAILED') throw error
    })
  }

  async function store(agent: AgentHandle, source: Source, secrets: Record<string, string>): Promise<void> {
    const secretSet = await agentSecrets.write(agent.agentId, secrets)
    try {
      await transact(agent, async (transaction, outbox) => {
        await insertSource(transaction, source, secretSet)
        await outbox.add(sourceJob(fetchJobName, source.id))
      })
    } catch (error) {
      await agentSecrets.remove(agent.agentId, [secretSet])
      throw error
    }
  }

  function newSource(
    type: 'database' | 'api',
    givenName: string,
    config: DatabaseConfig | ApiConfig,
  ): Source {
    const name = storableName(givenName)
    if (name === '') throw invalid('name', 'must not be empty')
    const now = timestamp(clock)
    const times = { created_at: now, updated_at: now }
    return { id: ids.record(), type, name, status: 'processing', progress: 0, config, ...times }
  }

  return {
    /** @throws VALIDATION_ERROR if it is not an allowed SELECT. */
    async createDatabase(agent: AgentHandle, given: NewDatabase, signal: AbortSignal): Promise<Source> {
      const { query } = given
      const source = newSource('database', given.name, { query, ...chunkingOf(given) })
      await requireQuery(agent, query, signal)
      await dependencies.requireEmbedding(agent.agentId)
      await store(agent, source, {})
      return source
    },

    /** @throws VALIDATION_ERROR for an invalid request, OUTBOUND_REFUSED for a blocked address. */
    async createApi(agent: AgentHandle, given: NewApi): Promise<Source> {
      const { headers = {} } = given
      const url = addressOf(given.url)
      requireHeaders(headers)
      const config = { url, headers: maskedHeaders(headers), ...chunkingOf(given) }
      const source = newSource('api', given.name, config)
      await outbound.requirePermitted(url, 'url')
      await dependencies.requireEmbedding(agent.agentId)
      await store(agent, source, sealedPart(url, headers))
      return source
    },
  }
}

export type FetchedSourcesService = ReturnType<typeof createFetchedSourcesService>

function addressOf(text: string): string {
  const target = parseTarget(text)
  if (!target.ok) throw invalid('url', target.reason)
  // A fragment is for readers of pages; it is not sent to the server.
  target.url.hash = ''
  return target.url.href
}
