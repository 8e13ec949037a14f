/** Runs in a thread of the worker pool; called by `new-vectors.ts`. */
import { withAgentDatabase } from './agent-database.ts'
import type { SourceTask } from './index.worker.ts'
import type { Embedded } from './index-writer.ts'
import {
  type ChunkText,
  embedNext,
  nextUnembedded,
  removeOtherVectors,
  type Unembedded,
  writeVectors,
} from './vector-writer.ts'

export type PartTask = SourceTask & Unembedded

export interface WriteTask extends SourceTask {
  sequences: readonly number[]
  embedded: Embedded
}

export interface RemovalTask extends SourceTask {
  /** The embedding whose vectors stay. */
  embedding: string
}

export function next({ databasePath, ...wanted }: PartTask): Promise<ChunkText[]> {
  return withAgentDatabase(databasePath, { readOnly: true }, db => nextUnembedded(db, wanted))
}

export function write({ databasePath, sequences, embedded, ...attempt }: WriteTask): Promise<void> {
  return withAgentDatabase(databasePath, { readOnly: false }, db =>
    writeVectors(db, attempt, sequences, embedded),
  )
}

/** Embeds chunks. @returns the last examined chunk, or undefined at the end. */
export function embed({ databasePath, ...task }: PartTask): Promise<number | undefined> {
  return withAgentDatabase(databasePath, { readOnly: false }, db => embedNext(db, task, task))
}

export function removeOthers({ databasePath, embedding, ...attempt }: RemovalTask): Promise<void> {
  return withAgentDatabase(databasePath, { readOnly: false }, db =>
    removeOtherVectors(db, attempt, embedding),
  )
}
