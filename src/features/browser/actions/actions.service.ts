import { AppError, invalid } from '#platform/errors.ts'
import type { BrowserSession } from '../sessions/browser-session.ts'
import type { ActionInput, ActionResult, Executed, ExecuteInput } from './actions.schema.ts'
import { requireAction, timeoutOf } from './actions.schema.ts'
import { Actor } from './actor.ts'
import { Overdue, orAborted, within } from './within.ts'

/** Milliseconds beyond its time-out in which an action is answered, whatever its page does. */
const answersWithinMs = 1700
const silent = 'The browser of this session no longer answered, so the session was ended.'

/** @param maxBytes of all downloads of a session together. */
export function createActionsService(maxBytes: number) {
  const actors = new WeakMap<BrowserSession, Promise<Actor>>()

  function actorOf(session: BrowserSession): Promise<Actor> {
    const known = actors.get(session)
    if (known !== undefined) return known
    const actor = Actor.of(session, maxBytes)
    actors.set(session, actor)
    actor.catch(() => actors.delete(session))
    return actor
  }

  async function performAll(session: BrowserSession, inputs: readonly ActionInput[], signal: AbortSignal) {
    const began = performance.now()
    const results: NonNullable<Executed['results']> = []
    for (const input of inputs) {
      const start = performance.now()
      const outcome = await perform(session, input, signal).then(
        result => ({ success: true, result }),
        error => ({ success: false, error: session.failure ?? messageOf(error) }),
      )
      signal.throwIfAborted()
      results.push({ action: input.action, duration_ms: since(start), ...outcome })
      if (!outcome.success) break
    }
    const success = results.every(result => result.success)
    return { success, results, total_duration_ms: since(began) }
  }

  async function execute(
    session: BrowserSession,
    input: ExecuteInput,
    signal: AbortSignal,
  ): Promise<Executed> {
    const { action, actions } = input
    if ((action === undefined) === (actions === undefined))
      throw invalid('action', 'or actions is required, and only one of them')
    const inputs = (actions ?? [input]) as ActionInput[]
    for (const [at, each] of inputs.entries())
      requireAction(each, actions === undefined ? '' : `actions.${at}.`)
    requireAgentDrives(session)
    return await session.inTurn(async () => {
      const [first] = inputs
      if (actions !== undefined || first === undefined) return await performAll(session, inputs, signal)
      return { success: true, result: await perform(session, first, signal) }
    })
  }

  /** What has waited for its turn may find a person there. */
  async function perform(session: BrowserSession, input: ActionInput, signal: AbortSignal) {
    requireAgentDrives(session)
    const work = actorOf(session).then(actor => actor.perform(input, signal))
    return await answered(session, within(work, timeoutOf(input) + answersWithinMs, signal))
  }

  return {
    actorOf,

    /**
     * Does one thing or several, one after the other; the first that fails is the last. All are checked before.
     * @throws AppError VALIDATION_ERROR, CONFLICT during a takeover, and for a single action what `Actor.perform` throws.
     */
    execute,

    /** One action, from within, once no person drives. Throws as `execute` does, but no CONFLICT. */
    act: (session: BrowserSession, input: ActionInput, signal: AbortSignal): Promise<ActionResult> =>
      afterTakeovers(session, signal, async () => (await execute(session, input, signal)).result ?? {}),

    /** The result of `Actor.changes`, once no person drives. */
    changes: (session: BrowserSession, characters: number, signal: AbortSignal): Promise<string> =>
      afterTakeovers(session, signal, () =>
        session.inTurn(async () => {
          requireAgentDrives(session)
          return await (await actorOf(session)).changes(characters)
        }),
      ),

    /** A file that a page of the session has downloaded. @throws AppError NOT_FOUND, CONFLICT */
    download: async (session: BrowserSession, id: string) =>
      await (await actorOf(session)).downloads.open(id),
  }
}

/** Again where a person was there when its turn came, so that nothing was done. */
async function afterTakeovers<Result>(
  session: BrowserSession,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  while (session.takeover !== undefined) await orAborted(session.takeover.ended, signal)
  return await work().catch(error => {
    if (!(error instanceof PersonDrives)) throw error
    return afterTakeovers(session, signal, work)
  })
}

/** A session in which nothing answers at all can't go on. */
async function answered(session: BrowserSession, result: Promise<ActionResult>): Promise<ActionResult> {
  return await result.catch(error => {
    if (!(error instanceof Overdue)) throw error
    void session.endWith(silent)
    throw new AppError('BROWSER_FAILED', silent)
  })
}

class PersonDrives extends AppError {}

function requireAgentDrives({ takeover }: BrowserSession): void {
  const refusal = 'A person has taken this session over. Try again once they have handed it back.'
  if (takeover !== undefined) throw new PersonDrives('CONFLICT', refusal)
}

export type ActionsService = ReturnType<typeof createActionsService>

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function since(start: number): number {
  return Math.round(performance.now() - start)
}
