import { AsyncLocalStorage } from 'node:async_hooks'
import { currentActor } from './actor.ts'
import { currentChange } from './current-change.ts'
import { currentOwner } from './current-owner.ts'
import { causeDepth } from './jobs/cause-depth.ts'
import type { Log } from './logging/log.ts'

/** A request, job, connection or browser, which alone ends on an uncaught error of its own. */
export interface Endable {
  /** Name for the log, such as `GET /api/agents`. */
  name: string
  /** Must not throw, nor do harm after the end. */
  end(error: Error): void
}

const owners = new AsyncLocalStorage<Endable>()

/** Runs work for an owner, which ends on an uncaught error of the work, its timers, streams or promises. */
export function runOwned<Result>(owner: Endable, work: () => Result): Result {
  return owners.run(owner, work)
}

/**
 * From now on an uncaught error ends its owner, and is logged. `onUnknown` gets one without an owner, because
 * then it is unknown what else is broken.
 */
export function handleUncaughtErrors(log: () => Log | undefined, onUnknown: (error: Error) => void): void {
  process.on('uncaughtException', (thrown, origin) => {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    const owner = owners.getStore()
    // The code that threw leaves its context behind, in which work without a context would continue.
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
