import { type Static, Type } from 'typebox'
import { AppError } from '#platform/errors.ts'
import type { JobContext, Outbox } from '#platform/jobs/jobs.ts'
import { matches } from '#platform/schema-check.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { workingStatus } from '../source-status.ts'
import { findSource, updateSource } from '../sources.repository.ts'
import type { Source } from '../sources.schema.ts'

const payloadSchema = Type.Object({ sourceId: Type.String() })

export const processJobName = 'source.process'
export const crawlJobName = 'source.crawl'
export const fetchJobName = 'source.fetch'
export const removeJobName = 'source.remove'

/** Returns the key of all jobs on a source: only one works on its chunks at a time. */
export function sourceJobKey(sourceId: string): string {
  return `source:${sourceId}`
}

export function sourceJob(name: string, sourceId: string) {
  const payload: Static<typeof payloadSchema> = { sourceId }
  return { name, key: sourceJobKey(sourceId), payload }
}

/**
 * Adds a job for a source whose status is not in work. The job that set this status might not have ended yet;
 * if it stayed in the outbox, it would block this one.
 */
export async function addSourceJob(
  outbox: Pick<Outbox, 'add' | 'cancel'>,
  name: string,
  sourceId: string,
): Promise<void> {
  await outbox.cancel(sourceJobKey(sourceId))
  await outbox.add(sourceJob(name, sourceId))
}

export function sourceIdOf(payload: unknown): string {
  if (!matches(payloadSchema, payload)) throw new AppError('INTERNAL_ERROR', 'The job names no source.')
  return payload.sourceId
}

/** Returns the job's source; undefined after its deletion. */
export function sourceOfJob({ agent, payload }: JobContext<AgentHandle>): Promise<Source | undefined> {
  return findSource(agent.db, sourceIdOf(payload))
}

/** Returns the job's source at the job's start, and changes its status from waiting to working. */
export async function sourceToWorkOn(context: JobContext<AgentHandle>): Promise<Source | undefined> {
  const source = await sourceOfJob(context)
  if (source?.status === 'pending')
    await updateSource(context.agent.db, source.id, { status: workingStatus(source) })
  return source
}
