import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Number of executions that caused one another up to that of the current work; undefined outside of
 * executions. Events carry it, so that chains of them can be ended.
 */
export const causeDepth = new AsyncLocalStorage<number>()
