import { WorkerCrashed, type WorkerPool, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import type { ParseLarge } from './connection.ts'
import type { Message } from './parse-message.ts'

const file = new URL('./parse-message.ts', import.meta.url)
const timeoutMs = 20_000

/** Parses messages in threads; a message that crashes or exceeds its thread is too large. */
export function createParseLarge(workers: WorkerPool): ParseLarge {
  return bytes => {
    const transfer = bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer as ArrayBuffer] : []
    const task = { file, name: 'parseMessage', argument: bytes, transfer, timeoutMs }
    return workers.run<Message | undefined>(task).catch(error => {
      if (error instanceof WorkerCrashed || error instanceof WorkerTimeout) return undefined
      throw error
    })
  }
}
