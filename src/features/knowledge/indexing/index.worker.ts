/** Runs in a thread of the worker pool; called by `indexing.service.ts`. */
import { randomIds } from '#platform/ids.ts'
import { withAgentDatabase } from './agent-database.ts'
import type { Attempt } from './generations.ts'
import { createIndexWriter, type Embedded, type IndexWriter } from './index-writer.ts'

export interface SourceTask extends Attempt {
  /** The `path` of the agent's handle. */
  databasePath: string
}

export interface IndexTask extends SourceTask {
  limit: number
  embedded?: Embedded | undefined
}

/** Indexes chunks. @returns the number of indexed chunks. */
export function index({ limit, embedded, ...task }: IndexTask): Promise<number> {
  return write(task, writer => writer.index(task.sourceId, limit, embedded))
}

export interface FinishTask extends SourceTask {
  embedding: string
}

/** Ends the draft. @returns the source's new number of chunks. */
export function finish({ embedding, ...task }: FinishTask): Promise<number> {
  return write(task, writer => writer.finish(task.sourceId, embedding))
}

export function remove(task: SourceTask): Promise<void> {
  return write(task, writer => writer.remove(task.sourceId))
}

function write<Result>(
  { databasePath, attempt, document }: SourceTask,
  work: (writer: IndexWriter) => Promise<Result>,
): Promise<Result> {
  return withAgentDatabase(databasePath, { readOnly: false }, db =>
    work(createIndexWriter({ db, ids: randomIds, attempt, document })),
  )
}
