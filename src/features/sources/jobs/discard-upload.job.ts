import type { Static } from 'typebox'
import { Type } from 'typebox'
import { AppError } from '#platform/errors.ts'
import type { JobHandler } from '#platform/jobs/jobs.ts'
import { matches } from '#platform/schema-check.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { isNamedFile } from '../sources.repository.ts'

const payloadSchema = Type.Object({ fileName: Type.String() })

export const discardJobName = 'upload.discard'

/** Milliseconds; far longer than a request may take to arrive and be answered. */
const timeToBecomeSource = 60 * 60_000

export function discardJobKey(fileName: string): string {
  return `upload:${fileName}`
}

/** To be added before the file is stored, and cancelled by the transaction that makes it a source's file. */
export function discardJob(fileName: string, now: number) {
  const payload: Static<typeof payloadSchema> = { fileName }
  return { name: discardJobName, key: discardJobKey(fileName), payload, runAt: now + timeToBecomeSource }
}

/** Removes an upload that never became the file of a source, for example because the process that received it died. */
export function createDiscardUploadJob(): JobHandler<AgentHandle> {
  return {
    lane: 'documents',
    // Within about a day, as where files of sources are removed.
    maxAttempts: 10,
    makesRoom: true,
    async run({ agent, payload }) {
      if (!matches(payloadSchema, payload)) throw new AppError('INTERNAL_ERROR', 'The job names no file.')
      if (!(await isNamedFile(agent.db, payload.fileName))) await agent.files.remove(payload.fileName)
    },
  }
}
