import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The agent for which the current request or job works, for code that serves all of them in turns and is too far away for an
 * argument, such as look-ups by connections of libraries. Undefined for the service's own work.
 */
export const currentOwner = new AsyncLocalStorage<string>()
