import { join } from 'node:path'
import type { Static } from 'typebox'
import { Type } from 'typebox'
import type { EmbeddingModel } from '#models/embeddings.ts'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import type { JobContext, JobHandler, Transact } from '#platform/jobs/jobs.ts'
import { matches } from '#platform/schema-check.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Chunk } from './chunking/chunk-document.ts'
import { documentFormatOf } from './parsing/document-format.ts'
import type { Ingest } from './parsing/ingest.ts'
import type { SearchIndex } from './search/search-index.ts'
import type { SourceEvents } from './sources.events.ts'
import { findSource, updateSource } from './sources.repository.ts'
import type { Source } from './sources.schema.ts'

export const processJobName = 'source.process'

/** One job a source at a time. */
export function processJobKey(sourceId: string): string {
  return `${processJobName}:${sourceId}`
}

const payloadSchema = Type.Object({ sourceId: Type.String() })

/** Shares of the progress: reading the file, embedding its chunks, writing them into the index. */
const progressRead = 0.2
const progressEmbedded = 0.6

interface Needs {
  ingest: Ingest
  embeddingOf(agentId: string): Promise<EmbeddingModel>
  index: Pick<SearchIndex, 'replace'>
  transact: Transact<SourceEvents>
  clock: Clock
}

/** Reads, cuts, embeds and indexes an uploaded file. Running it again replaces what an earlier run has left. */
export function createProcessSourceJob(needs: Needs): JobHandler<AgentHandle> {
  const { ingest } = needs
  const { finish, fail } = createOutcomes(needs)

  async function embed(
    chunks: Chunk[],
    context: JobContext<AgentHandle>,
    report: (share: number) => Promise<void>,
  ) {
    const model = await needs.embeddingOf(context.agent.agentId)
    const embedding = `${model.provider}/${model.id}`
    if (model.provider === 'builtin') return { embedding, vectors: undefined }
    const vectors: Float32Array[] = []
    for (const batch of batches(chunks, 96)) {
      const texts = batch.map(({ content }) => content)
      vectors.push(...(await model.embed(texts, { signal: context.signal, purpose: 'document' })))
      await report(vectors.length / chunks.length)
    }
    return { embedding, vectors }
  }

  async function process(context: JobContext<AgentHandle>, source: Source): Promise<void> {
    const { agent, signal } = context
    const report = async (progress: number) => void (await updateSource(agent.db, source.id, { progress }))
    const format = documentFormatOf(source.config.file_name)
    if (format === undefined || source.file_path === undefined)
      return fail(agent, source, 'The file of this source is missing.')
    const path = join(agent.filesDirectory, source.file_path)
    const { chunk_size, overlap, method } = source.config
    const read = await ingest.file({ path, format, chunking: { chunk_size, overlap, method } }, signal)
    if (read.kind === 'unreadable') return fail(agent, source, read.reason)
    await report(progressRead)
    const { chunks } = read
    const embedded = await embed(chunks, context, share =>
      report(progressRead + share * (progressEmbedded - progressRead)),
    )
    const replacement = { databasePath: agent.path, sourceId: source.id, chunks, ...embedded }
    await needs.index.replace(replacement, signal, share => {
      report(progressEmbedded + share * (1 - progressEmbedded)).catch(error =>
        context.log.warn({ err: error }, 'the progress of a source was not stored'),
      )
    })
    await finish(agent, source, chunks.length)
  }

  return {
    async run(context) {
      const source = await sourceOf(context)
      if (source !== undefined) await process(context, source)
    },
    async onFailed(context, error) {
      const source = await sourceOf(context)
      context.log.error({ sourceId: source?.id, error }, 'a source could not be processed')
      if (source !== undefined)
        await fail(context.agent, source, `This file could not be processed: ${error}`)
    },
  }
}

/** How processing ends: written down together with the news of it. */
function createOutcomes({ transact, clock }: Pick<Needs, 'transact' | 'clock'>) {
  return {
    async finish({ agentId, db }: AgentHandle, { id, name }: Source, chunks: number): Promise<void> {
      await transact({ agentId, db }, async (transaction, outbox) => {
        const changes = {
          status: 'ready' as const,
          error: null,
          progress: 1,
          chunks,
          updated_at: timestamp(clock),
        }
        if (!(await updateSource(transaction, id, changes))) return
        await outbox.tell('source.ready', { agentId, sourceId: id, name, chunks })
      })
    },

    /** What was found in the file before stays searchable. */
    async fail({ agentId, db }: AgentHandle, { id, name }: Source, error: string): Promise<void> {
      await transact({ agentId, db }, async (transaction, outbox) => {
        const changes = { status: 'error' as const, error, updated_at: timestamp(clock) }
        if (!(await updateSource(transaction, id, changes))) return
        await outbox.tell('source.error', { agentId, sourceId: id, name, error })
      })
    },
  }
}

/** The job's source; undefined once it was deleted. */
async function sourceOf({ agent, payload }: JobContext<AgentHandle>): Promise<Source | undefined> {
  if (!matches(payloadSchema, payload)) throw new AppError('INTERNAL_ERROR', 'The job names no source.')
  const { sourceId }: Static<typeof payloadSchema> = payload
  return findSource(agent.db, sourceId)
}

function batches<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}
