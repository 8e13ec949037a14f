/** Runs in a thread of the worker pool; the other side is `sandbox.ts`. */
import { once } from 'node:events'
import { createExecution } from './execution.ts'
import type { RunTask, ToMain, ToThread } from './messages.ts'
import type { Ending } from './outcome.ts'

export async function runCode({ port, ...task }: RunTask): Promise<Ending> {
  const execution = await createExecution({ ...task, send: (message: ToMain) => port.postMessage(message) })
  port.on('message', ({ id, answer }: ToThread) => execution.answer(id, answer))
  try {
    return await execution.run()
  } finally {
    // A pool thread sleeps as soon as it has answered, and an open port would keep the engine alive.
    port.close()
    await once(port, 'close')
  }
}
