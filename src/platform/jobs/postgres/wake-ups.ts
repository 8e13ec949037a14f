import { randomUUID } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { Log } from '../../logging/log.ts'
import { type ByLane, byLane, lanes } from '../lanes.ts'
import type { Announcement, WakeUps } from '../wake-ups.ts'
import { Covers } from './covers.ts'
import { openQueue, type QueueDatabase, type WakeUp, type WakeUpQueue } from './queue.ts'

interface Dependencies {
  /** Statements run on the platform's connections; one more connection listens. */
  database: QueueDatabase
  clock: Clock
  log: Log
}

/** Interval of polling for jobs that other processes have stored for later (ms). */
const pollInterval = 3_000
/** Min time by which a wake-up that comes too early is moved (ms). */
const worthMoving = 60_000

/**
 * Opens the wake-ups that any number of processes share. They cost this process one connection, and at most
 * one of the platform's for each call.
 */
export async function createWakeUps({ database, clock, log }: Dependencies): Promise<ByLane<WakeUps>> {
  let onNews = (_lane?: string) => {}
  const queues = await openQueue({ database, log, onNews: lane => onNews(lane) })
  const wakeUps = byLane(lane => new SharedWakeUps(queues[lane], clock, log))
  onNews = news => {
    for (const lane of lanes) if (news === undefined || news === lane) wakeUps[lane].ring()
  }
  return wakeUps
}

/** This process's only wake-up for an agent at a later time. */
interface Ahead {
  id: string
  dueAt: number
  /** Due time at the server, by the monotonic clock: the other one can be set back. */
  ringAt: number
  stored: Promise<void>
}

interface Taken extends WakeUp {
  /** True if another wake-up came meanwhile. */
  isPulled: boolean
}

/**
 * Each process keeps at most one later wake-up for an agent, beside the one that covers its transactions; for
 * the present there is one for all processes. A later request than the kept one needs no wake-up, because
 * each look finds the time of the next look.
 *
 * The server gets pauses, never times, so that the clocks of processes and server can differ.
 */
class SharedWakeUps implements WakeUps {
  readonly #queue: WakeUpQueue
  readonly #clock: Clock
  readonly #log: Log
  readonly #covers: Covers
  readonly #ahead = new Map<string, Ahead>()
  readonly #taken = new Map<string, Taken>()
  #onDue: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #timerAt = Number.POSITIVE_INFINITY

  constructor(queue: WakeUpQueue, clock: Clock, log: Log) {
    this.#queue = queue
    this.#clock = clock
    this.#log = log
    this.#covers = new Covers(queue)
  }

  async announce(agentId: string): Promise<Announcement> {
    const end = await this.#covers.begin(agentId)
    return {
      settle: async dueAt => {
        // A failed transaction might be committed all the same: its wake-up stays.
        if (dueAt === undefined) return
        await this.pull(agentId, dueAt)
        end()
      },
    }
  }

  async pull(agentId: string, dueAt: number): Promise<void> {
    const taken = this.#taken.get(agentId)
    if (taken !== undefined) taken.isPulled = true
    await this.#store(agentId, dueAt)
  }

  async take(): Promise<string | undefined> {
    const wakeUp = await this.#queue.take()
    if (wakeUp === undefined) return undefined
    const { id, agentId } = wakeUp
    this.#taken.set(agentId, { ...wakeUp, isPulled: false })
    if (this.#ahead.get(agentId)?.id === id) this.#ahead.delete(agentId)
    return agentId
  }

  async settle(agentId: string, dueAt: number | undefined): Promise<void> {
    const taken = this.#taken.get(agentId)
    this.#taken.delete(agentId)
    const ahead = this.#ahead.get(agentId)
    const done = taken === undefined ? [] : [taken.id]
    // The result of the look is valid only if no other wake-up came meanwhile.
    if (ahead !== undefined && taken?.isPulled === false) {
      if (dueAt === undefined) {
        this.#ahead.delete(agentId)
        done.push(ahead.id)
      } else if (dueAt > ahead.dueAt + worthMoving) await this.#keep(agentId, dueAt)
    }
    if (dueAt !== undefined) await this.#store(agentId, dueAt)
    // This comes last, so that the agent has a wake-up whenever this process dies.
    await this.#queue.remove(done)
  }

  async start(onDue: () => void): Promise<void> {
    this.#onDue = onDue
    this.#arm(performance.now() + pollInterval)
    onDue()
  }

  async stop(): Promise<void> {
    this.#onDue = undefined
    clearTimeout(this.#timer)
    await this.#covers
      .sweep(0)
      .catch(error => this.#log.warn({ err: error }, 'taking back wake-ups has failed'))
    await this.#queue.close()
  }

  /** Reports that an agent has due work. */
  ring(): void {
    this.#onDue?.()
  }

  async #store(agentId: string, dueAt: number): Promise<void> {
    if (dueAt <= this.#clock.now()) return await this.#queue.addDue(agentId)
    const ahead = this.#ahead.get(agentId)
    if (ahead !== undefined && ahead.dueAt <= dueAt && this.#isToCome(ahead)) return await ahead.stored
    await this.#keep(agentId, dueAt)
  }

  async #keep(agentId: string, dueAt: number): Promise<void> {
    const former = this.#ahead.get(agentId)
    const ahead: Ahead = {
      id: former?.id ?? randomUUID(),
      dueAt,
      ringAt: Number.POSITIVE_INFINITY,
      stored: Promise.resolve(),
    }
    ahead.stored = this.#write(agentId, ahead, former)
    this.#ahead.set(agentId, ahead)
    try {
      await ahead.stored
    } catch (error) {
      if (this.#ahead.get(agentId) === ahead) this.#ahead.delete(agentId)
      throw error
    }
  }

  async #write(agentId: string, ahead: Ahead, former: Ahead | undefined): Promise<void> {
    await former?.stored.catch(() => {})
    const wait = ahead.dueAt - this.#clock.now()
    if (former === undefined || !(await this.#queue.move(former.id, wait))) {
      ahead.id = randomUUID()
      await this.#queue.addLater({ id: ahead.id, agentId }, wait)
    }
    // Timers can be early by a millisecond.
    ahead.ringAt = performance.now() + Math.max(0, wait) + 1
    this.#arm(ahead.ringAt)
  }

  #isToCome({ dueAt, ringAt }: Ahead): boolean {
    return dueAt > this.#clock.now() && ringAt > performance.now()
  }

  #arm(ringAt: number): void {
    if (this.#onDue === undefined || ringAt >= this.#timerAt) return
    clearTimeout(this.#timer)
    this.#timerAt = ringAt
    this.#timer = setTimeout(() => this.#tick(), ringAt - performance.now())
  }

  #tick(): void {
    let next = performance.now() + pollInterval
    for (const [agentId, ahead] of this.#ahead) {
      if (!this.#isToCome(ahead)) this.#ahead.delete(agentId)
      else next = Math.min(next, ahead.ringAt)
    }
    this.#timerAt = Number.POSITIVE_INFINITY
    this.#arm(next)
    this.#covers.sweep().catch(error => this.#log.warn({ err: error }, 'taking back wake-ups has failed'))
    this.ring()
  }
}
