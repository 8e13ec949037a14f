import { upload } from '#console/api/client.ts'
import { ApiError } from '#console/api/errors.ts'
import { invalidate } from '#console/api/query.ts'
import { createStore } from '#console/api/store.ts'
import type { Agent } from '#console/shell/agent.tsx'
import { sourcesPath, uploadSource } from './requests.ts'

/** An upload to the server. It continues while other views are open. */
export interface Upload {
  id: number
  agentId: string
  file: File
  state: 'waiting' | 'sending' | 'failed'
  /** The uploaded share of its bytes, 0 to 1. */
  share: number
  /** The reason of a failure. */
  error?: string
}

const atATime = 2
/** Pause after the server has refused an upload because of too many requests (ms). */
const pauseMs = 5000

export const uploads = createStore<readonly Upload[]>([])
const controllers = new Map<number, AbortController>()
let made = 0
let pausedUntil = 0

const change = (id: number, values: Partial<Upload>) =>
  uploads.set(uploads.get().map(one => (one.id === id ? { ...one, ...values } : one)))

/** Cancels an upload, or forgets a failed one. */
export function dismiss(id: number): void {
  controllers.get(id)?.abort()
  uploads.set(uploads.get().filter(one => one.id !== id))
}

export function addUploads(agent: Agent, files: readonly File[]): void {
  const added = files.map(file => {
    made += 1
    return { id: made, agentId: agent.id, file, state: 'waiting' as const, share: 0 }
  })
  uploads.set([...uploads.get(), ...added])
  sendNext(agent)
}

export function retry(agent: Agent, id: number): void {
  change(id, { state: 'waiting', share: 0 })
  sendNext(agent)
}

function sendNext(agent: Agent): void {
  const own = uploads.get().filter(({ agentId }) => agentId === agent.id)
  const sending = own.filter(({ state }) => state === 'sending').length
  for (const next of own.filter(({ state }) => state === 'waiting').slice(0, Math.max(0, atATime - sending)))
    void sendOne(agent, next)
}

async function sendOne(agent: Agent, { id, file }: Upload): Promise<void> {
  const controller = new AbortController()
  controllers.set(id, controller)
  change(id, { state: 'sending' })
  try {
    await upload(uploadSource(agent, file), share => change(id, { share }), controller.signal)
    dismiss(id)
    await invalidate([sourcesPath(agent)])
  } catch (error) {
    if (error instanceof ApiError && error.status === 429) {
      pausedUntil = Date.now() + pauseMs
      change(id, { state: 'waiting', share: 0 })
    } else change(id, { state: 'failed', error: error instanceof Error ? error.message : String(error) })
  } finally {
    controllers.delete(id)
  }
  setTimeout(() => sendNext(agent), Math.max(0, pausedUntil - Date.now()))
}
