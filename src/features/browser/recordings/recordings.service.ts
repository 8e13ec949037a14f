import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { BrowserSession } from '../sessions/browser-session.ts'
import { createPruneJob, pruneJob } from './prune-recordings.job.ts'
import { Recorder } from './recorder.ts'
import { findPiece, findRecording, type Recording } from './recordings.repository.ts'
import { type RecordingLimits, RecordingStore, type StoringDependencies } from './storing.ts'

/** An event of rrweb: a snapshot, a change, or a mark of the service (type 5 with `tag`, `payload`). */
export interface RrwebEvent {
  type: number
  data: unknown
  /** Milliseconds since the epoch. */
  timestamp: number
}

const usualLimits: RecordingLimits = { ofSession: 20 * 1024 * 1024, ofAgent: 200 * 1024 * 1024 }
const decompress = promisify(gunzip)
/** Max bytes of events in a piece. */
const maxPiece = 64 * 1024 * 1024

/** Watches and stores the events of sessions. */
export function createRecordings({
  limits = usualLimits,
  ...dependencies
}: Partial<StoringDependencies> & Omit<StoringDependencies, 'limits'>) {
  const recorders = new WeakMap<BrowserSession, Recorder>()
  const stores = new WeakMap<BrowserSession, RecordingStore>()

  function recorderOf(session: BrowserSession): Recorder {
    const known = recorders.get(session) ?? new Recorder(session)
    recorders.set(session, known)
    return known
  }

  return {
    jobs: { [pruneJob]: createPruneJob(dependencies.clock) },

    /** Records the session from when this resolves until its end. */
    async record(agent: AgentHandle, session: BrowserSession): Promise<void> {
      let stop = () => {}
      const store = new RecordingStore(agent, session.id, { ...dependencies, limits }, () => stop())
      stores.set(session, store)
      stop = await recorderOf(session).watch(store.take, true)
    },

    /** Sends arrays of events as JSON, first a snapshot, until the returned function is called. */
    watch(session: BrowserSession, send: (events: string) => void): () => void {
      const watching = recorderOf(session).watch(send)
      return () => void watching.then(stop => stop())
    },

    /** Must be called before the session closes its tabs. Never rejects. */
    async finish(session: BrowserSession): Promise<void> {
      await recorders.get(session)?.finish()
      await stores.get(session)?.flush()
    },

    async has({ db }: AgentHandle, sessionId: string): Promise<boolean> {
      return (await findRecording(db, sessionId)) !== undefined
    },

    /** Returns undefined without a recording. */
    find: ({ db }: AgentHandle, sessionId: string): Promise<Recording | undefined> =>
      findRecording(db, sessionId),

    /** Yields `{events, meta}` as JSON, with one piece in memory at a time. */
    async *read({ db }: AgentHandle, sessionId: string, meta: Recording): AsyncGenerator<string> {
      yield '{"events":['
      for (let number = 0; ; number += 1) {
        const piece = await findPiece(db, sessionId, number)
        if (piece === undefined) break
        const events = (await decompress(piece, { maxOutputLength: maxPiece })).toString()
        yield `${number === 0 ? '' : ','}${events.slice(1, -1)}`
      }
      yield `],"meta":${JSON.stringify({ session_id: sessionId, ...meta })}}`
    },
  }
}

export type Recordings = ReturnType<typeof createRecordings>
