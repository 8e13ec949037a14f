import { AsyncLocalStorage } from 'node:async_hooks'

/** The depth of the execution that the current work belongs to; none outside of executions. */
export const runningDepth = new AsyncLocalStorage<number>()

export const maxDepth = 10
