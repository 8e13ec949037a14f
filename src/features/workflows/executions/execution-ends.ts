import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError, notFound } from '#platform/errors.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { findExecution } from '../rows/executions.repository.ts'
import type { WorkflowEvents } from '../workflows.events.ts'

/** Requests that wait at a time. */
const maxWaits = { ofAgent: 50, ofProcess: 500 }
/** Milliseconds between looks at an execution that another process may end: they double from the first to the last. */
const pauses = { first: 20, last: 1_000 }

interface Dependencies {
  transact: Transact<WorkflowEvents>
  /** Whether no other process ends executions. */
  isExclusive: boolean
}

/** Wakes those who wait for the ends of executions: at once where this process ends them. */
export function createExecutionEnds({ transact, isExclusive }: Dependencies) {
  const waits = new Map<string, number>()
  /** Its events are the ids of executions. */
  const ends = new EventEmitter().setMaxListeners(0)
  /** Of transactions that have not been committed. */
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
    /** To be called in the transaction that ends an execution, which is one of `transact`. */
    note(transaction: object, id: string): void {
      noted.set(transaction, [...(noted.get(transaction) ?? []), id])
    },

    /** Wakes those who wait for the ends that were noted, after the commit. */
    transact: waking,

    /** A place for a request that waits, to be disposed of. @throws OVERLOADED if none is free */
    reserve(agentId: string): Disposable {
      if (total >= maxWaits.ofProcess || (waits.get(agentId) ?? 0) >= maxWaits.ofAgent)
        throw new AppError(
          'OVERLOADED',
          'Too many requests wait for executions. Try again later, or do not wait.',
        )
      change(agentId, 1)
      return { [Symbol.dispose]: () => change(agentId, -1) }
    },

    /** The execution once it has ended; undefined if it takes longer (milliseconds), or the process stops. */
    async wait({ db, signal: agentSignal }: AgentHandle, id: string, timeoutMs: number, client: AbortSignal) {
      const signal = AbortSignal.any([client, agentSignal])
      const until = performance.now() + timeoutMs
      for (let next = pauses.first; ; next = Math.min(next * 2, pauses.last)) {
        const { promise: end, resolve } = Promise.withResolvers<void>()
        const over = new AbortController()
        // Before the execution is read, so that no end is missed.
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

    /** Ends all waiting. */
    close(): void {
      isClosed = true
      for (const id of ends.eventNames()) ends.emit(id)
    },
  }
}

export type ExecutionEnds = ReturnType<typeof createExecutionEnds>
