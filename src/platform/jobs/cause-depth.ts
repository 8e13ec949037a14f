import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * How many executions have caused one another up to the one that the current work belongs to; none outside of executions.
 * Events carry it, so that chains of them can be ended.
 */
export const causeDepth = new AsyncLocalStorage<number>()
