import type { Clock } from '../clock.ts'
import { type Disk, diskProblemIn, withRoom } from '../disk.ts'
import { AppError } from '../errors.ts'
import { parseJson } from '../exact-json.ts'
import type { Log } from '../logging/log.ts'
import { backoff } from './backoff.ts'
import {
  JobAborted,
  type JobAgent,
  type JobContext,
  type JobHandler,
  JobYields,
  type OutboxEntry,
} from './jobs.ts'
import {
  completeEntry,
  failEntry,
  freeEntry,
  type Held,
  postponeEntry,
  recordFailure,
  recordProgress,
  requeueEntry,
  returnEntry,
} from './outbox.ts'

export interface EntryRun<Agent extends JobAgent> {
  agent: Agent
  /** The leased entry, with this run counted in `attempts`. */
  entry: OutboxEntry
  /** Called when the entry is no longer suspected of having ended processes. */
  onCleared(): void
  handler: JobHandler<Agent>
  holder: string
  signal: AbortSignal
  /** Rejects with an error that the run did not catch, and might never see. */
  broken: Promise<never>
  disk: Disk
  clock: Clock
  log: Log
  /** Returns 0 to 1. */
  random(): number
}

const defaultMaxAttempts = 5
/** Max processes that end with a job, beside others at first and then alone: it might be the cause. */
const maxDeaths = 4
/** Max deaths including recordings for people, which can end processes as well. */
const maxDeathsWithRecording = 6
const pauseAfterDiskProblem = 5_000
const storedErrorLength = 1_000

/** Runs a leased entry once and records the outcome. */
export async function runEntry<Agent extends JobAgent>(run: EntryRun<Agent>): Promise<void> {
  const { agent, entry, handler, signal } = run
  const held = heldBy(run)
  const context = contextOf(run)
  if (deathsWith(entry) >= maxDeaths) return await failPermanently(run, context, endedTheService)
  if (isExhausted(entry, handler)) return await failPermanently(run, context, entry.last_error ?? '')

  const error = await failureOf(async () => {
    signal.throwIfAborted()
    const ended = handler.makesRoom ? withRoom(run.disk, () => handler.run(context)) : handler.run(context)
    await Promise.race([ended, run.broken])
  })
  if (error === undefined) await completeEntry(agent.db, held)
  else if (signal.aborted) await afterAbort(run)
  else if (error instanceof JobYields) await requeueEntry(agent.db, held, error.until ?? run.clock.now())
  else if (diskProblemIn(error)) await afterDiskProblem(run, error)
  else await afterFailure(run, context, error)
}

const endedTheService =
  'It ended the service: four times the process died in the middle of it, at last with no other job at work. ' +
  'It is not begun again by itself. The log of the server shows when; have the cause put right before trying it again.'

/** Returns the number of processes that have ended with the entry since its last other end. */
function deathsWith({ attempts, failures }: OutboxEntry): number {
  return attempts - failures - 1
}

function isExhausted<Agent extends JobAgent>({ failures }: OutboxEntry, handler: JobHandler<Agent>): boolean {
  return failures >= (handler.maxAttempts ?? defaultMaxAttempts)
}

function heldBy<Agent extends JobAgent>({ entry, holder }: EntryRun<Agent>): Held {
  return { id: entry.id, holder }
}

function contextOf<Agent extends JobAgent>(run: EntryRun<Agent>): JobContext<Agent> {
  const { agent, entry, signal, log } = run
  let isCleared = deathsWith(entry) === 0
  return {
    agent,
    payload: parseJson(entry.payload),
    jobId: entry.id,
    key: entry.key,
    signal,
    async progressed() {
      if (isCleared) return
      isCleared = true
      await recordProgress(agent.db, heldBy(run))
      run.onCleared()
    },
    log: log.child({ agentId: agent.agentId, job: entry.name, jobId: entry.id }),
  }
}

/** Returns true for an error that recurs until a person corrects its cause. */
function isPermanent(error: Error): boolean {
  return error instanceof AppError && error.isPermanent
}

/** Returns the error that `work` throws; undefined if it succeeds. */
async function failureOf(work: () => Promise<void>): Promise<Error | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

async function afterAbort<Agent extends JobAgent>(run: EntryRun<Agent>): Promise<void> {
  const { agent, signal, clock } = run
  const reason = signal.reason instanceof JobAborted ? signal.reason.reason : undefined
  // An entry that was cancelled or taken over is no longer ours.
  if (reason === 'stopping' || reason === 'agent closed')
    await returnEntry(agent.db, heldBy(run), clock.now())
  else if (reason === 'failing') await freeEntry(agent.db, heldBy(run))
}

/** Postpones the entry: no job is to blame for a full disk, however long it stays full. */
async function afterDiskProblem<Agent extends JobAgent>(run: EntryRun<Agent>, error: Error): Promise<void> {
  const { agent, entry, disk, clock, log } = run
  disk.report(error)
  log.warn({ err: error, agentId: agent.agentId, job: entry.name }, 'a job waits for space on the disk')
  await requeueEntry(agent.db, heldBy(run), clock.now() + pauseAfterDiskProblem)
}

async function afterFailure<Agent extends JobAgent>(
  run: EntryRun<Agent>,
  context: JobContext<Agent>,
  error: Error,
): Promise<void> {
  const { agent, entry, handler, clock, random } = run
  const held = heldBy(run)
  const failures = entry.failures + 1
  const message = error.message.slice(0, storedErrorLength)
  context.log.warn({ err: error, failures }, 'a job failed')
  await recordFailure(agent.db, held, message)
  if (isPermanent(error) || isExhausted({ ...entry, failures }, handler))
    return await failPermanently(run, context, message)
  await postponeEntry(agent.db, held, { runAt: clock.now() + backoff(failures, random), deaths: 0 })
}

/** Marks the entry as failed only after calling the handler, so that a crash in between repeats the call. */
async function failPermanently<Agent extends JobAgent>(
  run: EntryRun<Agent>,
  context: JobContext<Agent>,
  message: string,
): Promise<void> {
  const { agent, entry, handler, signal, clock, random } = run
  const held = heldBy(run)
  const error = await failureOf(async () => {
    signal.throwIfAborted()
    if (deathsWith(entry) < maxDeathsWithRecording)
      await Promise.race([handler.onFailed?.(context, message), run.broken])
  })
  if (error === undefined) {
    context.log.error({ lastError: message }, 'a job failed permanently')
    await failEntry(agent.db, held, clock.now())
  } else if (signal.aborted) await afterAbort(run)
  else {
    context.log.error({ err: error }, 'a job failed permanently, and so did recording it for people')
    const runAt = clock.now() + backoff(entry.failures + 1, random)
    await postponeEntry(agent.db, held, { runAt, deaths: deathsWith(entry) })
  }
}
