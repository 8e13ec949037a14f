import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The agent of the current request or job, for code that serves all agents in turns and that no argument
 * reaches, such as look-ups by connections of libraries. Undefined for the service's own work.
 */
export const currentOwner = new AsyncLocalStorage<string>()
