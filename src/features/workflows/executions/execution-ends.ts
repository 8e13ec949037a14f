import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError, notFound } from '#platform/errors.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { findExecution } from '../rows/executions.repository.ts'
import type { WorkflowEvents } from '../workflows.events.ts'

/** Max number of requests that wait at a time. */
const maxWaits = { ofAgent: 50, ofProcess: 500 }
/** Intervals between reads of an execution that another process can end (ms); they double. */
const pauses = { first: 20, last: 1_000 }

interface Dependencies {
  transact: Transact<WorkflowEvents>
  /** True if no other process ends executions. */
  isExclusive: boolean
}

/** Resolves waits for the ends of executions: at once for those that this process ends. */
export function createExecutionEnds({ transact, isExclusive }: Dependencies) {
  const waits = new Map<string, number>()
  /** Emits the ids of ended executions. */
  const ends = new EventEmitter().setMaxListeners(0)
  /** Ids of ended executions by their uncommitted transactions. */
  const noted = new WeakMap<object, string[]>()
  let total = 0
  let isClosed = false

  function change(agentId: string, by: 1 | -1): void {
    total += by
    const count = (waits.get(agentId) ?? 0) + by
    if (count === 0) waits.delete(agentId)
    else waits.set(agentId, count)
  }

  const waking: Transact<WorkflowEvents> = async (agent, work) => {
    let used: object = {}
    const result = await transact(agent, (transaction, outbox) => {
      used = transaction
      return work(transaction, outbox)
    })
    for (const id of noted.get(used) ?? []) ends.emit(id)
    return result
  }

  return {
    /** Notes an end. Must be called in the ending transaction, which is one of `transact`. */
    note(transaction: object, id: string): void {
      noted.set(transaction, [...(noted.get(transaction) ?? []), id])
    },

    /** Runs a transaction, and wakes the waits for the ends noted in it after the commit. */
    transact: waking,

    /** Reserves a place for a waiting request until it is disposed. @throws OVERLOADED if none is free */
    reserve(agentId: string): Disposable {
      if (total >= maxWaits.ofProcess || (waits.get(agentId) ?? 0) >= maxWaits.ofAgent)
        throw new AppError(
          'OVERLOADED',
          'Too many requests wait for executions. Try again later, or do not wait.',
        )
      change(agentId, 1)
      return { [Symbol.dispose]: () => change(agentId, -1) }
    },

    /** Returns the execution once it has ended; undefined after the timeout (ms), or if the process stops. */
    async wait({ db, signal: agentSignal }: AgentHandle, id: string, timeoutMs: number, client: AbortSignal) {
      const signal = AbortSignal.any([client, agentSignal])
      const until = performance.now() + timeoutMs
      for (let next = pauses.first; ; next = Math.min(next * 2, pauses.last)) {
        const { promise: end, resolve } = Promise.withResolvers<void>()
        const over = new AbortController()
        // The listener is added before the execution is read, so that no end is missed.
        ends.once(id, resolve)
        try {
          const execution = await findExecution(db, id)
          if (execution === undefined) throw notFound('Execution')
          if (execution.completed_at !== null) return execution
          const left = until - performance.now()
          if (left <= 0 || isClosed) return undefined
          const either = AbortSignal.any([signal, over.signal])
          await Promise.race([
            end,
            delay(isExclusive ? left : Math.min(next, left), undefined, { signal: either }),
          ])
        } finally {
          ends.off(id, resolve)
          over.abort()
        }
      }
    },

    /** Ends all waits. */
    close(): void {
      isClosed = true
      for (const id of ends.eventNames()) ends.emit(id)
    },
  }
}

export type ExecutionEnds = ReturnType<typeof createExecutionEnds>
