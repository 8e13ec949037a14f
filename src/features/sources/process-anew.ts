import type { Transaction } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { conflict } from '#platform/errors.ts'
import type { Outbox } from '#platform/jobs/jobs.ts'
import { laneLimits } from '#platform/jobs/lanes.ts'
import type { AgentTables } from '#storage/tables.ts'
import { addSourceJob, fetchJobName, processJobName } from './jobs/source-jobs.ts'
import { isInWork, workingStatus } from './source-status.ts'
import type { SourceChanges } from './sources.repository.ts'
import { countInWork, updateSource } from './sources.repository.ts'
import type { Source } from './sources.schema.ts'

export interface SourceChange {
  transaction: Transaction<AgentTables>
  outbox: Outbox
  clock: Clock
}

/** Has the file of a source read, or its content fetched, with these changes to it. */
export async function processAnew(
  { transaction, outbox, clock }: SourceChange,
  source: Source,
  changes: SourceChanges = {},
): Promise<Source> {
  if (isInWork(source.status)) throw conflict('This source is being processed. Wait until it is ready.')
  const isFull = (await countInWork(transaction)) >= laneLimits.documents.perAgent
  const status = isFull ? 'pending' : workingStatus(source)
  const changed = { ...changes, status, error: null, progress: 0, updated_at: timestamp(clock) }
  await updateSource(transaction, source.id, changed)
  await addSourceJob(outbox, source.type === 'file' ? processJobName : fetchJobName, source.id)
  return { ...source, status }
}
