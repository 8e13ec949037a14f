import type { FastifyRequest } from 'fastify'
import { AppError } from '#platform/errors.ts'
import type { BodyParts } from '#platform/http/requests/body.ts'
import { WorkerCrashed, type WorkerPool, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import type { CutBody } from './cut-files.worker.ts'

const file = new URL('./cut-files.worker.ts', import.meta.url)
const timeoutMs = 30_000

export type CutFiles = CutBody['files']

/** Reads the files of large requests in a thread, so that the event loop reads the rest alone. */
export function createLargeBodies({ searchWorkers }: { searchWorkers: WorkerPool }) {
  const cut = new WeakMap<FastifyRequest, CutFiles>()
  return {
    async shorten(request: FastifyRequest, parts: BodyParts): Promise<string> {
      const transfer = parts.map(({ buffer }) => buffer)
      const task = { file, name: 'cutFiles', argument: parts, transfer, timeoutMs }
      const { json, files } = await searchWorkers.run<CutBody>(task).catch((cause: unknown) => {
        if (!(cause instanceof WorkerTimeout || cause instanceof WorkerCrashed)) throw cause
        throw new AppError('PAYLOAD_TOO_LARGE', 'The request is too large to be read.', { cause })
      })
      cut.set(request, files)
      return json
    },

    /** The files that were cut out of a request. */
    filesOf: (request: FastifyRequest): CutFiles => cut.get(request) ?? new Map(),
  }
}

export type LargeBodies = ReturnType<typeof createLargeBodies>
