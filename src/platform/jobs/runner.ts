import { setTimeout as delay } from 'node:timers/promises'
import { currentActor } from '../actor.ts'
import type { Clock } from '../clock.ts'
import { currentChange } from '../current-change.ts'
import { currentOwner } from '../current-owner.ts'
import { type Disk, remoteDisk } from '../disk.ts'
import { AppError } from '../errors.ts'
import type { Log } from '../logging/log.ts'
import { runOwned } from '../uncaught-errors.ts'
import { Isolation } from './isolation.ts'
import { type AbortReason, JobAborted, type JobAgent, type JobHandler, type OutboxEntry } from './jobs.ts'
import { type ByLane, defaultLane, type Lane, type LaneLimits, laneLimits, lanes } from './lanes.ts'
import { findDue, type Lease, leaseFound, type Running } from './leasing.ts'
import { extendLease } from './outbox.ts'
import { runEntry } from './run-entry.ts'
import type { WakeUps } from './wake-ups.ts'

export interface JobRunner {
  start(): Promise<void>
  /**
   * Starts no more jobs, aborts those that run, and waits at most `deadline` milliseconds for them to end. If
   * the process is `failing`, one of them might be the reason: it counts as ended with each.
   */
  stop(deadline: number, reason?: 'stopping' | 'failing'): Promise<void>
  /** Resolves once no job is running or due; later ones do not count. */
  idle(): Promise<void>
  /** Aborts, as cancelled, the jobs among them that are running here. */
  abort(agentId: string, jobIds: readonly string[]): void
}

export interface RunnerDependencies<Agent extends JobAgent> {
  wakeUps: ByLane<WakeUps>
  /** `use` rejects with an AppError `NOT_FOUND` for an agent that no longer exists. */
  agentDatabases: { use<Result>(agentId: string, work: (agent: Agent) => Promise<Result>): Promise<Result> }
  /** The handlers by the name of the job. Can be filled until `start`. */
  handlers: ReadonlyMap<string, JobHandler<Agent>>
  clock: Clock
  log: Log
  /** A new id of this process: leases with another id belong to others. */
  instanceId: string
  /** Defaults to `laneLimits`. */
  limits?: ByLane<LaneLimits>
  /** Time without a sign of life of its process after which another one runs a job. */
  leaseMs?: number
  /** Time of running jobs before this process runs those that others have died with (ms). */
  calmMs?: number
  /** The disk; during its problems, only jobs that delete begin. */
  disk?: Disk
  /** Returns 0 to 1, for the jitter of pauses. */
  random?: () => number
}

/** Runs the entries of all agents' outboxes. */
export function createJobRunner<Agent extends JobAgent>(dependencies: RunnerDependencies<Agent>): JobRunner {
  const onOpen = () => {
    for (const runner of runners) runner.look()
  }
  const isolation = new Isolation({ calmMs: dependencies.calmMs ?? 10_000, onOpen })
  const runners = lanes.map(lane => new LaneRunner(lane, dependencies, isolation))
  const inAll = async (work: (runner: JobRunner) => Promise<void>) => {
    await Promise.all(runners.map(work))
  }
  const begun = () => runners.reduce((sum, runner) => sum + runner.begun, 0)
  return {
    async start() {
      isolation.start()
      await inAll(runner => runner.start())
    },
    async stop(deadline, reason) {
      isolation.stop()
      await inAll(runner => runner.stop(deadline, reason))
    },
    async idle() {
      // Repeated while jobs have run: one might have added another to a lane that was idle.
      for (let before = -1; before !== begun(); ) {
        before = begun()
        await inAll(runner => runner.idle())
        await isolation.idle()
      }
    },
    abort(agentId, jobIds) {
      for (const runner of runners) runner.abort(agentId, jobIds)
    },
  }
}

interface RunningJob {
  agentId: string
  entry: OutboxEntry
  controller: AbortController
  /** Rejects with an error that the job did not catch. */
  broken: PromiseWithResolvers<never>
}

const pauseAfterTrouble = 60_000
/** Pause before jobs that wait for space on the disk are checked again. */
const pauseWhileFull = 15_000
const pauseOfPump = 1_000

/** Runs the entries of one lane. */
class LaneRunner<Agent extends JobAgent> implements JobRunner {
  readonly #lane: Lane
  readonly #isolation: Isolation
  readonly #limits: LaneLimits
  readonly #dependencies: RunnerDependencies<Agent>
  readonly #wakeUps: WakeUps
  readonly #leaseMs: number
  readonly #disk: Disk
  readonly #jobs = new Set<RunningJob>()
  /** The runs, until the end of each has been recorded and its agent woken up. */
  readonly #runs = new Set<Promise<void>>()
  /** Number of runs since the start. */
  begun = 0
  #started = false
  #pump: Promise<void> | undefined
  #pumpAgain = false
  #pumpTimer: NodeJS.Timeout | undefined

  constructor(lane: Lane, dependencies: RunnerDependencies<Agent>, isolation: Isolation) {
    this.#lane = lane
    this.#isolation = isolation
    this.#limits = (dependencies.limits ?? laneLimits)[lane]
    this.#dependencies = dependencies
    this.#wakeUps = dependencies.wakeUps[lane]
    this.#leaseMs = dependencies.leaseMs ?? 30_000
    this.#disk = dependencies.disk ?? remoteDisk
  }

  async start(): Promise<void> {
    this.#started = true
    await this.#wakeUps.start(() => this.look(), this.#leaseMs)
  }

  async stop(deadline: number, reason: 'stopping' | 'failing' = 'stopping'): Promise<void> {
    this.#started = false
    clearTimeout(this.#pumpTimer)
    for (const job of this.#jobs) abortJob(job, reason)
    const waiting = new AbortController()
    const ended = this.#quiet().then(() => true)
    const late = delay(deadline, false, { signal: waiting.signal }).catch(() => false)
    if (!(await Promise.race([ended, late])))
      this.#dependencies.log.warn(
        { jobs: this.#jobs.size },
        'jobs still run at the end; they will be run again',
      )
    waiting.abort()
    // This comes last: each job that ends makes its agent due for other processes.
    await this.#wakeUps.stop()
  }

  async idle(): Promise<void> {
    this.look()
    await this.#quiet()
  }

  abort(agentId: string, jobIds: readonly string[]): void {
    for (const job of this.#jobsOf(agentId)) if (jobIds.includes(job.entry.id)) abortJob(job, 'cancelled')
  }

  async #quiet(): Promise<void> {
    while (this.#pump !== undefined || this.#runs.size > 0) await Promise.all([this.#pump, ...this.#runs])
  }

  /** Makes the pump look for work, and once more if it is already looking. */
  look(): void {
    if (!this.#started) return
    this.#pumpAgain = true
    // Runs outside of any change: the jobs do not belong to the request that caused the look.
    this.#pump ??= currentChange.run(undefined, () => this.#runPump())
  }

  async #runPump(): Promise<void> {
    const leave = this.#isolation.enter()
    while (this.#pumpAgain) {
      this.#pumpAgain = false
      try {
        await this.#beginDueWork()
      } catch (error) {
        this.#disk.report(error)
        this.#dependencies.log.error({ err: error }, 'looking for due work failed')
        clearTimeout(this.#pumpTimer)
        this.#pumpTimer = setTimeout(() => this.look(), pauseOfPump)
      }
    }
    // Cleared here and not on the promise, so that no wake-up is lost between the last check and the end.
    this.#pump = undefined
    leave()
  }

  async #beginDueWork(): Promise<void> {
    while (this.#mayBegin && this.#jobs.size < this.#limits.concurrency) {
      const agentId = await this.#wakeUps.take()
      if (agentId === undefined) return
      await this.#wakeUps.settle(agentId, await this.#look(agentId))
    }
  }

  /** Starts due entries of an agent's outbox; returns the time of the next look. */
  async #look(agentId: string): Promise<number | undefined> {
    try {
      return await this.#dependencies.agentDatabases.use(agentId, agent => this.#beginWorkOf(agent))
    } catch (error) {
      if (isGone(error)) return undefined
      this.#dependencies.log.error({ err: error, agentId }, "looking into an agent's outbox failed")
      return this.#dependencies.clock.now() + pauseAfterTrouble
    }
  }

  async #beginWorkOf({ agentId, db }: Agent): Promise<number | undefined> {
    const now = this.#dependencies.clock.now()
    const revisit = now + this.#leaseMs
    const jobs = this.#jobsOf(agentId)
    const { concurrency, perAgent } = this.#limits
    const limit = this.#mayBegin ? Math.min(concurrency - this.#jobs.size, perAgent - jobs.length) : 0
    const look = { lane: this.#lane, now, limit, running: this.#runningOf(jobs) }
    const { due, next, suspects } = await findDue(db, look)
    const leased = this.#mayBegin ? await leaseFound(db, due, this.#lease(now)) : []
    for (const entry of leased) void this.#begin(agentId, entry)
    const suspect = suspects.due.length > 0 ? now : suspects.next
    const isSuspectDue = suspect !== undefined && suspect <= now
    if (isSuspectDue) this.#isolation.add(`${this.#lane} ${agentId}`, () => this.#beginSuspect(agentId))

    const jobsNow = this.#jobsOf(agentId)
    // The end of any of these jobs makes the agent due; this time is for the death of this process before.
    if (jobsNow.length >= perAgent) return revisit
    // Others might have leased the found entries; the next look shows until when.
    const again = earlier(leased.length < due.length ? now : next, isSuspectDue ? revisit : suspect)
    if (this.#disk.problem !== undefined)
      return Math.min(again ?? Number.POSITIVE_INFINITY, now + pauseWhileFull)
    if (jobsNow.length === 0) return again
    // An agent that is already due goes to the end of the queue of agents.
    return Math.min(revisit, Math.max(again ?? revisit, now))
  }

  get #mayBegin(): boolean {
    return this.#started && this.#isolation.isOpen
  }

  #lease(now: number): Lease {
    return { holder: this.#dependencies.instanceId, now, expiresAt: now + this.#leaseMs }
  }

  /** Never rejects. */
  async #beginSuspect(agentId: string): Promise<{ ended: Promise<void> } | undefined> {
    try {
      return await this.#dependencies.agentDatabases.use(agentId, async ({ db }) => {
        if (!this.#started) return undefined
        const now = this.#dependencies.clock.now()
        const running = this.#runningOf(this.#jobsOf(agentId))
        const { suspects } = await findDue(db, { lane: this.#lane, now, limit: 1, running })
        const [entry] = await leaseFound(db, suspects.due, { ...this.#lease(now), suspects: true })
        return entry && { ended: this.#begin(agentId, entry) }
      })
    } catch (error) {
      if (!isGone(error))
        this.#dependencies.log.error({ err: error, agentId }, 'a job could not be run alone')
      return undefined
    }
  }

  #begin(agentId: string, entry: OutboxEntry): Promise<void> {
    const leave = this.#isolation.enter()
    const broken = Promise.withResolvers<never>()
    // Prevents an unhandled rejection: nothing might wait for it any more.
    broken.promise.catch(() => {})
    const job = { agentId, entry, controller: new AbortController(), broken }
    this.begun += 1
    if (!this.#started) abortJob(job, 'stopping')
    this.#jobs.add(job)
    const owner = { name: `job ${entry.name} ${entry.id}`, end: broken.reject }
    const run = runOwned(owner, () => this.#run(job)).finally(() => {
      this.#runs.delete(run)
      leave()
    })
    this.#runs.add(run)
    return run
  }

  /** Never rejects. */
  async #run(job: RunningJob): Promise<void> {
    const { agentDatabases, clock, log } = this.#dependencies
    const { agentId, entry } = job
    try {
      await agentDatabases.use(agentId, agent =>
        // Not the actor whose request happened to wake the agent up: jobs name theirs themselves.
        currentActor.run(undefined, () => currentOwner.run(agentId, () => this.#runLeased(agent, job))),
      )
    } catch (error) {
      // The lease expires, and the entry is found again; that of a deleted agent is deleted, too.
      if (!isGone(error))
        log.error(
          { err: error, agentId, job: entry.name, jobId: entry.id },
          'recording the end of a job failed',
        )
    }
    this.#jobs.delete(job)
    try {
      await this.#wakeUps.pull(agentId, clock.now())
    } catch (error) {
      log.error({ err: error, agentId }, 'waking up an agent failed')
    }
    this.look()
  }

  async #runLeased(agent: Agent, job: RunningJob): Promise<void> {
    const { clock, log, instanceId: holder, random = Math.random } = this.#dependencies
    const { entry, controller } = job
    const { signal } = controller
    const close = () => abortJob(job, 'agent closed')
    if (agent.signal.aborted) close()
    agent.signal.addEventListener('abort', close, { once: true })
    const heartbeat = setInterval(() => this.#prolong(agent, job), this.#leaseMs / 3)
    try {
      const handler = this.#handlerOf(entry)
      const onCleared = () => this.#isolation.clear()
      const disk = this.#disk
      const broken = job.broken.promise
      await runEntry({ agent, entry, handler, holder, signal, broken, onCleared, disk, clock, log, random })
    } finally {
      // The rest of a broken job must stop.
      job.broken.promise.catch(error => controller.abort(error))
      clearInterval(heartbeat)
      agent.signal.removeEventListener('abort', close)
    }
  }

  #prolong({ agentId, db }: Agent, job: RunningJob): void {
    const { clock, log, instanceId } = this.#dependencies
    extendLease(db, { id: job.entry.id, holder: instanceId }, clock.now() + this.#leaseMs)
      .then(isHeld => {
        if (!isHeld) abortJob(job, 'lease lost')
      })
      .catch(error => log.warn({ err: error, agentId, jobId: job.entry.id }, 'extending a lease failed'))
  }

  #handlerOf({ name }: OutboxEntry): JobHandler<Agent> {
    const run = () => Promise.reject(new Error(`there is no handler for jobs named ${name}`))
    return this.#dependencies.handlers.get(name) ?? { lane: defaultLane, run }
  }

  #runningOf(jobs: RunningJob[]): Running {
    const makingRoom = () => [...this.#dependencies.handlers].filter(([, { makesRoom }]) => makesRoom)
    return {
      ids: jobs.map(job => job.entry.id),
      keys: jobs.flatMap(job => job.entry.key ?? []),
      names: this.#disk.problem && makingRoom().map(([name]) => name),
    }
  }

  #jobsOf(agentId: string): RunningJob[] {
    return [...this.#jobs].filter(job => job.agentId === agentId)
  }
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

/** Returns true if an agent could not be used because it was deleted. */
function isGone(error: unknown): boolean {
  return error instanceof AppError && error.code === 'NOT_FOUND'
}

function abortJob({ controller }: RunningJob, reason: AbortReason): void {
  controller.abort(new JobAborted(reason))
}
