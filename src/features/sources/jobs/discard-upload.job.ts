import { type Static, Type } from 'typebox'
import { AppError } from '#platform/errors.ts'
import type { JobHandler } from '#platform/jobs/jobs.ts'
import { matches } from '#platform/schema-check.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { isNamedFile } from '../sources.repository.ts'

const payloadSchema = Type.Object({ fileName: Type.String() })

export const discardJobName = 'upload.discard'

/** Delay in milliseconds; far longer than a request can take. */
const timeToBecomeSource = 60 * 60_000

export function discardJobKey(fileName: string): string {
  return `upload:${fileName}`
}

/** Must be added before the file is stored; the transaction that makes it a source's file cancels it. */
export function discardJob(fileName: string, now: number) {
  const payload: Static<typeof payloadSchema> = { fileName }
  return { name: discardJobName, key: discardJobKey(fileName), payload, runAt: now + timeToBecomeSource }
}

/** Removes an upload that never became a source's file, for example because its process died. */
export function createDiscardUploadJob(): JobHandler<AgentHandle> {
  return {
    lane: 'documents',
    // Enough for about a day, as for files of sources.
    maxAttempts: 10,
    makesRoom: true,
    async run({ agent, payload }) {
      if (!matches(payloadSchema, payload)) throw new AppError('INTERNAL_ERROR', 'The job names no file.')
      if (!(await isNamedFile(agent.db, payload.fileName))) await agent.files.remove(payload.fileName)
    },
  }
}
