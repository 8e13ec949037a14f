import type { MessagePort } from 'node:worker_threads'

/** A task in its thread. */
export interface ThreadTask {
  /** Address of the module that exports the function. */
  file: string
  name: string
  argument: unknown
  /** Gets a message, and is closed, when the module is loaded. */
  loaded: MessagePort
}

/** Loads the task's module in the thread, and runs its function. */
export default async function runTask({ file, name, argument, loaded }: ThreadTask): Promise<unknown> {
  const exported = await import(file)
  loaded.postMessage(null)
  loaded.close()
  return await exported[name](argument)
}
