import { type ByLane, lanes } from '#platform/jobs/lanes.ts'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import { copyKeyCheck } from '../encryption/check-encryption-key.ts'
import { agentsToCopy, requireFreeTarget } from './check-ends.ts'
import { inWords, requireSameParts } from './compare-parts.ts'
import { copyAgent, readCopiedAgent } from './copy-agent.ts'
import { copyKey, requireNoOtherKey } from './copy-key.ts'
import { copyPlatform, readPlatform } from './copy-platform.ts'
import type { Part } from './digest.ts'
import { beginTransfer, endTransfer } from './marker.ts'
import type { Progress } from './progress.ts'
import type { SearchableText } from './rebuild-full-text.ts'
import type { StorageEnd } from './storage-end.ts'

interface Dependencies {
  source: StorageEnd
  target: StorageEnd
  /** The agent to copy; null for all agents, and data that belongs to none. */
  agent: string | null
  searchableText: SearchableText
  progress: Progress
}

/** Max missing uploads that are named per agent; of agents with files in a bucket, all are missing. */
const namedFiles = 10

/**
 * Copies data to an empty target, and reads the copy back. After a failure or death it can be repeated, and
 * then starts over.
 * @throws Error with a sentence for the operator.
 */
export async function transfer(dependencies: Dependencies): Promise<void> {
  const { source, target, agent, progress } = dependencies
  const agents = await agentsToCopy(source, agent)
  await requireNoOtherKey(source, target)
  await requireFreeTarget({ from: source.name, agent }, source, target)
  progress.say(`Copying ${source.name} to ${target.name}.`)
  await beginTransfer(target.platform, { from: source.name, agent })

  if (agent === null) await removeVanished(agents, target)
  const wakeUps = await target.openWakeUps()
  let missing = 0
  try {
    for (const [index, id] of agents.entries()) {
      progress.say(`Agent ${index + 1} of ${agents.length}: ${id}`)
      missing += await transferAgent(id, { ...dependencies, wakeUps }).catch(error => {
        throw new Error(`agent ${id}: ${error instanceof Error ? error.message : error}`, { cause: error })
      })
    }
  } finally {
    for (const lane of lanes) await wakeUps[lane].stop()
  }
  progress.say('Platform')
  const parts = await copyPlatform(dependencies)
  requireSameParts(parts, await readPlatform(target, agent))
  sayParts(parts, progress)

  // The copy would lack any change that a service has made meanwhile.
  await source.requireUntouched()
  await target.requireUntouched()
  await copyKeyCheck(source.platform, target.platform)
  const aboutKey = await copyKey(source, target)
  await endTransfer(target.platform)
  if (missing > 0) progress.say(`Uploads in all that were not copied: ${missing}.`)
  progress.say(`Complete. ${target.startWith} ${aboutKey}`)
}

/** Copies an agent, and returns the number of missing uploads. */
async function transferAgent(
  id: string,
  dependencies: Dependencies & { wakeUps: ByLane<Pick<WakeUps, 'pull'>> },
): Promise<number> {
  const parts = await copyAgent(id, dependencies)
  requireSameParts(parts, await readCopiedAgent(id, dependencies))
  sayParts(parts, dependencies.progress)
  return sayMissing(parts, dependencies.progress)
}

/** Removes agents that an earlier attempt copied and that were deleted later. */
async function removeVanished(agents: readonly string[], target: StorageEnd): Promise<void> {
  for (const id of await target.storedAgents()) if (!agents.includes(id)) await target.engine.removeAgent(id)
}

function sayParts(parts: readonly Part[], { say }: Progress): void {
  for (const part of parts) say(`  ${part.name}: ${inWords(part)}, the same in the copy`)
}

/** Reports missing uploads: the digests do not reveal files that are missing on both sides. */
function sayMissing(parts: readonly Part[], { say }: Progress): number {
  const missing = parts.flatMap(part => part.missing ?? [])
  const named = missing.slice(0, namedFiles).join(', ')
  const others = missing.length > namedFiles ? ` and ${missing.length - namedFiles} others` : ''
  if (missing.length > 0)
    say(`  uploads that are missing, empty or kept in a bucket (${missing.length}): ${named}${others}`)
  return missing.length
}
