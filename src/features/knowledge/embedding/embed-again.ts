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
  db: Kysely<AgentTables>
  source: SourceTask
  /** Returns the embedding that the agent now uses. */
  wanted(): Promise<EmbeddingModel>
  vectors: NewVectors
  /** The end of this turn, in milliseconds of `performance.now()`. */
  until: number
  signal: AbortSignal
  /** Called after a part of the work was stored, which no later run repeats. */
  progressed(): Promise<void>
}

/** The max progress before the source is ready again. */
const lastProgress = 0.99

/**
 * Adds vectors of its agent's current embedding to the chunks of a source, and returns its name. Before each
 * part it reads the current embedding, so that the last of several quick changes wins. Existing vectors stay.
 * @throws JobYields at the end of its turn.
 */
export async function embedAgain(run: Run): Promise<string> {
  for (;;) {
    const model = await run.wanted()
    if (await embedSource(run, model)) return embeddingName(model)
  }
}

/** Returns false if the agent has changed its embedding again. */
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

/** Returns false if the agent has changed its embedding again. */
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
