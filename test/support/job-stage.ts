import { onTestFinished } from 'vitest'
import type { Clock } from '#platform/clock.ts'
import { randomIds } from '#platform/ids.ts'
import { type EventHandler, eventJob, eventJobName, type SharedEventHandler } from '#platform/jobs/events.ts'
import type { JobHandler, Transact } from '#platform/jobs/jobs.ts'
import { type ByLane, byLane, type LaneLimits } from '#platform/jobs/lanes.ts'
import { createJobRunner, type RunnerDependencies } from '#platform/jobs/runner.ts'
import { createEnsureJobs, createTransact } from '#platform/jobs/transact.ts'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import { createLog } from '#platform/logging/log.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { type JobEngine, openJobEngine } from './job-engine.ts'

export interface StageEvents {
  'note.created': { note: string }
}

type Handler = Omit<JobHandler<AgentHandle>, 'lane'> & Partial<Pick<JobHandler<AgentHandle>, 'lane'>>
type Handlers = Record<string, Handler | Handler['run']>
type Options = Partial<Omit<RunnerDependencies<AgentHandle>, 'handlers' | 'clock'>> & {
  clock: Clock
  /** One of its own by default. */
  engine?: JobEngine
  /** By the kind of subscriber. */
  eventHandlers?: Record<string, EventHandler<AgentHandle> | SharedEventHandler<AgentHandle>>
}

/** The same limits for each lane. */
export const allLanes = (limits: LaneLimits) => byLane(() => limits)

/** Jobs on real databases, with the agents `a` and `b`; the runner is started by the test. */
export async function setJobStage(handlers: Handlers, options: Options) {
  const { clock, engine = await openJobEngine(clock), eventHandlers = {}, ...needs } = options
  const log = createLog('silent')
  const { agentDatabases } = engine
  await engine.addAgent('a')
  await engine.addAgent('b')
  const wakeUps = await engine.newWakeUps()
  const byName = new Map<string, JobHandler<AgentHandle>>()
  for (const [name, handler] of Object.entries(handlers))
    byName.set(name, { lane: 'documents', ...(typeof handler === 'function' ? { run: handler } : handler) })
  for (const [kind, handler] of Object.entries(eventHandlers))
    byName.set(eventJobName(kind), eventJob(handler))

  function createRunner(
    instanceId: string,
    own: ByLane<WakeUps>,
    changes: Partial<RunnerDependencies<AgentHandle>> = {},
  ) {
    const runner = createJobRunner<AgentHandle>({
      wakeUps: own,
      agentDatabases,
      handlers: byName,
      log,
      instanceId,
      random: () => 0.5,
      clock,
      ...needs,
      ...changes,
    })
    onTestFinished(() => runner.stop(1_000))
    return runner
  }
  const runner = createRunner('first', wakeUps)
  const outboxNeeds = { wakeUps, clock, ids: randomIds, log, handlers: byName }
  const abort = runner.abort.bind(runner)
  const transact: Transact<StageEvents> = createTransact<StageEvents>({ ...outboxNeeds, abort })
  const ensureJobs = createEnsureJobs(outboxNeeds)

  return {
    ...engine,
    wakeUps,
    runner,
    /** Another process, as far as leases and wake-ups are concerned. */
    newRunner: async (instanceId: string, changes: Partial<RunnerDependencies<AgentHandle>> = {}) =>
      createRunner(instanceId, await engine.newWakeUps(), changes),
    transact,
    /** Adds a job in a transaction of its own. */
    add: (
      name: string,
      { agent = 'a', ...job }: { agent?: string; key?: string; payload?: unknown; runAt?: number } = {},
    ) =>
      agentDatabases.use(agent, handle =>
        transact(handle, (_, outbox) => outbox.add({ name, payload: null, ...job })),
      ),
    ensure: (name: string, key: string) =>
      agentDatabases.use('a', agent => ensureJobs(agent, [{ name, key, payload: null }])),
    cancel: (key: string, agent = 'a') =>
      agentDatabases.use(agent, handle => transact(handle, (_, outbox) => outbox.cancel(key))),
    entries: (agent = 'a') =>
      agentDatabases.use(agent, ({ db }) => db.selectFrom('outbox').selectAll().orderBy('run_at').execute()),
  }
}

export interface Gate {
  /** Resolves once someone has come to the gate. */
  reached: Promise<void>
  /** Waits until the gate is opened, or the signal is aborted, which throws its reason. */
  pass(signal?: AbortSignal): Promise<void>
  open(): void
}

/** Stops a job, or whatever passes it, until the test lets it go on. */
export function createGate(): Gate {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    open: opened.resolve,
    async pass(signal) {
      reached.resolve()
      const { promise, reject } = Promise.withResolvers<never>()
      signal?.addEventListener('abort', () => reject(signal.reason))
      await Promise.race([opened.promise, promise])
    },
  }
}
