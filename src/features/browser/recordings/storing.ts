import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Clock, timestamp } from '#platform/clock.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { keptMs, pruneJob } from './prune-recordings.job.ts'
import { deleteRecordings, insertPiece, listSuperfluous } from './recordings.repository.ts'

/** Max stored bytes. */
export interface RecordingLimits {
  ofSession: number
  ofAgent: number
}

export interface StoringDependencies {
  transact: Transact
  clock: Clock
  log: Log
  limits: RecordingLimits
}

const compress = promisify(gzip)
/** Characters of events stored at once, and max wait of fewer (ms). */
const pieceCharacters = 256 * 1024
const pieceMs = 2000
/** Max characters that wait while the database is slow. */
const maxWaiting = 12_000_000
/** Max characters of all events: repetitions compress well, but a viewer needs room for all. */
const maxCharacters = 400_000_000

/** Stores the events of one session in pieces. */
export class RecordingStore {
  readonly #agent: AgentHandle
  readonly #sessionId: string
  readonly #dependencies: StoringDependencies
  readonly #onFull: () => void
  #waiting: string[] = []
  #characters = 0
  #number = 0
  #size = 0
  #taken = 0
  #isFull = false
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<void> = Promise.resolve()

  /** @param onFull called when the store takes no more events. */
  constructor(agent: AgentHandle, sessionId: string, dependencies: StoringDependencies, onFull: () => void) {
    this.#agent = agent
    this.#sessionId = sessionId
    this.#dependencies = dependencies
    this.#onFull = onFull
  }

  /** @param events a JSON array that is not empty. */
  readonly take = (events: string): void => {
    if (this.#isFull) return
    this.#waiting.push(events.slice(1, -1))
    this.#characters += events.length
    this.#taken += events.length
    if (this.#taken > maxCharacters) this.#fill('What is recorded has become too much to be replayed.')
    if (this.#characters > maxWaiting) this.#fill('The database does not keep up with it.')
    if (this.#characters >= pieceCharacters) void this.flush()
    else this.#timer ??= setTimeout(() => void this.flush(), pieceMs).unref()
  }

  /** Stores waiting events. Never rejects: events that could not be stored wait for the next piece. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#turn = this.#turn
      .then(() => this.#store())
      .catch(error => {
        const about = { err: error, agentId: this.#agent.agentId }
        this.#dependencies.log.warn(about, 'a part of a browser recording could not be stored yet')
      })
    return this.#turn
  }

  async #store(): Promise<void> {
    const events = this.#waiting
    const characters = this.#characters
    if (events.length === 0 || this.#agent.signal.aborted) return
    this.#waiting = []
    this.#characters = 0
    try {
      await this.#insert(await compress(`[${events.join()}]`))
    } catch (error) {
      this.#waiting.unshift(...events)
      this.#characters += characters
      throw error
    }
  }

  async #insert(piece: Buffer): Promise<void> {
    const { limits } = this.#dependencies
    if (this.#size + piece.length <= limits.ofSession || this.#isFull) return await this.#write(piece)
    this.#fill(`It may take ${limits.ofSession} bytes at most.`)
    await this.#store()
  }

  async #write(events: Buffer): Promise<void> {
    const { transact, clock, limits } = this.#dependencies
    const sessionId = this.#sessionId
    const number = this.#number
    const now = timestamp(clock)
    const removed = await transact(this.#agent, async (transaction, outbox) => {
      if (!(await insertPiece(transaction, { sessionId, number, events, now }))) return undefined
      const payload = { sessionId }
      if (number === 0)
        await outbox.add({
          name: pruneJob,
          key: `${pruneJob}:${sessionId}`,
          payload,
          runAt: clock.now() + keptMs,
        })
      const superfluous = await listSuperfluous(transaction, limits.ofAgent, sessionId)
      await deleteRecordings(transaction, superfluous)
      return superfluous.length
    })
    if (removed === undefined) {
      this.#fill('Newer ones have taken its place.')
      this.#waiting = []
      return
    }
    this.#number += 1
    this.#size += events.length
    if (removed > 0) await this.#agent.shrink()
  }

  /** Takes no more events, and ends with a mark of the reason. */
  #fill(reason: string): void {
    const data = { tag: 'recording_stopped', payload: { reason } }
    this.#waiting = [JSON.stringify({ type: 5, data, timestamp: Date.now() })]
    this.#characters = 0
    this.#isFull = true
    this.#onFull()
  }
}
