import { onTestFinished, vi } from 'vitest'
import type { Clock } from '#platform/clock.ts'
import { createEventBus } from '#platform/event-bus.ts'
import { randomIds } from '#platform/ids.ts'
import type { JobHandler, Transact } from '#platform/jobs/jobs.ts'
import type { RunnerNeeds } from '#platform/jobs/runner.ts'
import { createJobRunner } from '#platform/jobs/runner.ts'
import { createWakeUps } from '#platform/jobs/sqlite/wake-ups.ts'
import { createTransact } from '#platform/jobs/transact.ts'
import { createLog } from '#platform/log.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { openEmbeddedStorage } from './embedded-storage.ts'

export interface StageEvents {
  'note.created': { note: string }
}

type Handlers = Record<string, JobHandler<AgentHandle> | JobHandler<AgentHandle>['run']>
type Options = Partial<Omit<RunnerNeeds<AgentHandle>, 'handlers' | 'clock'>> & { clock: Clock }

/** Jobs on real databases, with the agents `a` and `b`; the runner is started by the test. */
export async function setJobStage(handlers: Handlers, options: Options) {
  const { clock } = options
  const log = createLog('silent')
  const storage = await openEmbeddedStorage()
  const { platform, agentDatabases } = storage
  await storage.addAgent('a')
  await storage.addAgent('b')
  const wakeUps = createWakeUps({ db: platform, clock })
  const events = createEventBus<StageEvents>()

  /** Another process, as far as leases are concerned. */
  function newRunner(instanceId: string, changes: Partial<Options> = {}) {
    const byName = Object.entries(handlers).map(
      ([name, handler]) => [name, typeof handler === 'function' ? { run: handler } : handler] as const,
    )
    const runner = createJobRunner<AgentHandle>({
      wakeUps,
      agentDatabases,
      handlers: new Map(byName),
      events,
      log,
      instanceId,
      random: () => 0.5,
      ...options,
      ...changes,
    })
    onTestFinished(() => runner.stop(1_000))
    return runner
  }
  const runner = newRunner('first')
  const transact: Transact<StageEvents> = createTransact<StageEvents>({
    wakeUps,
    clock,
    ids: randomIds,
    log,
    abort: runner.abort.bind(runner),
    events,
  })

  return {
    ...storage,
    wakeUps,
    events,
    runner,
    newRunner,
    transact,
    /** Adds a job in a transaction of its own. */
    add: (
      name: string,
      { agent = 'a', ...job }: { agent?: string; key?: string; payload?: unknown; runAt?: number } = {},
    ) =>
      agentDatabases.use(agent, handle =>
        transact(handle, (_, outbox) => outbox.add({ name, payload: null, ...job })),
      ),
    cancel: (key: string, agent = 'a') =>
      agentDatabases.use(agent, handle => transact(handle, (_, outbox) => outbox.cancel(key))),
    entries: (agent = 'a') =>
      agentDatabases.use(agent, ({ db }) => db.selectFrom('outbox').selectAll().orderBy('run_at').execute()),
    wakeUpRows: () => platform.selectFrom('wake_ups').selectAll().orderBy('agent_id').execute(),
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

/** For what happens on its own in the background: tries `check` until it no longer throws. */
export function eventually(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 10_000, interval: 10 })
}
