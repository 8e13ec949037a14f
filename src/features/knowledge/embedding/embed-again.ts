import type { Kysely } from 'kysely'
import { embeddingName } from '#models/embeddings/embedding-name.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import { JobYields } from '#platform/jobs/jobs.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { SourceTask } from '../indexing/index.worker.ts'
import type { NewVectors } from '../indexing/new-vectors.ts'
import { changeSource } from '../source-rows.repository.ts'
import { countEmbedded, documentWithout, showEmbedding } from './embedded-documents.ts'

export interface Run {
  /** The agent's database. */
  db: Kysely<AgentTables>
  source: SourceTask
  /** The embedding that the agent uses now. */
  wanted(): Promise<EmbeddingModel>
  vectors: NewVectors
  /** When it is the turn of others, in milliseconds of `performance.now()`. */
  until: number
  signal: AbortSignal
  /** Called when a part of the work is stored that no later run does again. */
  progressed(): Promise<void>
}

/** The greatest progress before the source is ready again. */
const lastProgress = 0.99

/**
 * Gives the chunks of a source the vectors of the embedding that its agent uses now, and returns its name. Before each part it
 * reads which embedding that is, so that the last of several quick changes wins. Vectors that are there already stay.
 * @throws JobYields when it is the turn of others.
 */
export async function embedAgain(run: Run): Promise<string> {
  for (;;) {
    const model = await run.wanted()
    if (await embedSource(run, model)) return embeddingName(model)
  }
}

/** False if another embedding is wanted meanwhile. */
async function embedSource(run: Run, model: EmbeddingModel): Promise<boolean> {
  const { db, source, vectors, signal, progressed } = run
  const { sourceId } = source
  const embedding = embeddingName(model)
  await changeSource(db, sourceId, { new_embedding: embedding })
  const { all, embedded } = await countEmbedded(db, sourceId, embedding)
  for (let done = embedded; ; done++) {
    const document = await documentWithout(db, sourceId, embedding)
    if (document === undefined) break
    const report = async (share: number) => {
      const progress = Math.min(lastProgress, (done + share) / all)
      await changeSource(db, sourceId, { progress })
      await progressed()
    }
    if (!(await embedDocument(run, document, model, report))) return false
    await showEmbedding(db, { ...source, ...document.place }, embedding)
  }
  await vectors.removeOthers(source, embedding, signal)
  return await isWanted(run, model)
}

type Document = NonNullable<Awaited<ReturnType<typeof documentWithout>>>

/** False if another embedding is wanted meanwhile. */
async function embedDocument(
  run: Run,
  { place, first, last }: Document,
  model: EmbeddingModel,
  report: (share: number) => Promise<void>,
): Promise<boolean> {
  const { source, vectors, until, signal } = run
  for (let after = first - 1; ; ) {
    if (!(await isWanted(run, model))) return false
    if (performance.now() > until) throw new JobYields()
    const reached = await vectors.embedNext({ ...source, ...place }, after, model, signal)
    if (reached === undefined) return true
    after = reached
    await report((after - first + 1) / (last - first + 1))
  }
}

async function isWanted({ wanted }: Run, model: EmbeddingModel): Promise<boolean> {
  return embeddingName(await wanted()) === embeddingName(model)
}
