import { AsyncLocalStorage } from 'node:async_hooks'
import { currentActor } from './actor.ts'
import { currentChange } from './current-change.ts'
import { currentOwner } from './current-owner.ts'
import { causeDepth } from './jobs/cause-depth.ts'
import type { Log } from './logging/log.ts'

/** A request, job, connection or browser: an error that it does not catch ends it, and nothing else. */
export interface Endable {
  /** For the log, such as `GET /api/agents`. */
  name: string
  /** Must not throw, nor do harm where it has ended already. */
  end(error: Error): void
}

const owners = new AsyncLocalStorage<Endable>()

/** Runs work in the name of what is to end when nothing catches an error of the work, of its timers, streams or promises. */
export function ownedBy<Result>(owner: Endable, work: () => Result): Result {
  return owners.run(owner, work)
}

/**
 * From now on an error that nothing catches ends its owner, and is logged. One without an owner is handed to `onUnknown`, since
 * then it is unknown what else is broken.
 */
export function holdLastLine(log: () => Log | undefined, onUnknown: (error: Error) => void): void {
  process.on('uncaughtException', (thrown, origin) => {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    const owner = owners.getStore()
    // The code that threw leaves its context behind, in which work without one of its own would go on.
    for (const context of [owners, currentOwner, currentActor, currentChange, causeDepth])
      context.enterWith(undefined as never)
    log()?.[owner === undefined ? 'fatal' : 'error'](
      { err: error, origin, owner: owner?.name },
      owner === undefined ? 'the process ends for an error that nothing caught' : 'an error ended its owner',
    )
    if (owner === undefined) onUnknown(error)
    else owner.end(error)
  })
}
