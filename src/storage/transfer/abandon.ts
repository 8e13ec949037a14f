import { removeFromPlatform } from './copy-platform.ts'
import { endTransfer, readTransfer } from './marker.ts'
import type { StorageEnd } from './storage-end.ts'

/**
 * Removes what an incomplete transfer of one agent has left, so that services may use the other agents again. It can be
 * repeated after it has failed or died.
 * @throws Error with a sentence if there is no such transfer.
 */
export async function abandonTransfer(target: StorageEnd, agent: string): Promise<void> {
  const begun = await readTransfer(target.platform)
  if (begun?.agent === null)
    throw new Error(
      `${target.name} holds an incomplete copy of all of ${begun.from}. Remove that folder or database as a whole.`,
    )
  if (begun?.agent !== agent) throw new Error(`${target.name} holds no incomplete copy of an agent ${agent}.`)
  await removeFromPlatform(target, agent)
  await target.engine.removeAgent(agent)
  await target.requireUntouched()
  await endTransfer(target.platform)
}
