import { once } from 'node:events'
import { expect } from 'vitest'
import { makeAgent } from './agents.ts'
import type { TestApp } from './build-app.ts'

/**
 * Deletes an agent that nobody uses any more. Before that it begins to delete another one, which somebody uses to the end
 * of the time that a deletion waits for: whoever were waited for here would be waited for longer.
 */
export async function removeAtOnce(app: TestApp, agentId: string): Promise<void> {
  const used = await makeAgent(app)
  const handle = await app.service.infrastructure.agentDatabases.acquire(used)
  const waiting = app.call('DELETE', `/api/agents/${used}`)
  await once(handle.signal, 'abort')
  const removal = app.call('DELETE', `/api/agents/${agentId}`)
  const first = await Promise.race([waiting.then(() => used), removal.then(() => agentId)])
  handle.release()
  expect([first, (await removal).status, (await waiting).status]).toEqual([agentId, 200, 200])
}
