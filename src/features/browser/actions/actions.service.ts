import { AppError, invalid } from '#platform/errors.ts'
import type { BrowserSession } from '../sessions/browser-session.ts'
import {
  type ActionInput,
  type ActionResult,
  type Executed,
  type ExecuteInput,
  requireAction,
  timeoutOf,
} from './actions.schema.ts'
import { Actor } from './actor.ts'
import { Overdue, orAborted, within } from './within.ts'

/** Time beyond an action's timeout in which it always gets a result, even from a stuck page (ms). */
const answersWithinMs = 1700
const silent = 'The browser of this session no longer answered, so the session was ended.'

/** @param maxBytes limits all downloads of a session together. */
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

  /** A takeover might have begun while the action waited for its turn. */
  async function perform(session: BrowserSession, input: ActionInput, signal: AbortSignal) {
    requireAgentDrives(session)
    const work = actorOf(session).then(actor => actor.perform(input, signal))
    return await answered(session, within(work, timeoutOf(input) + answersWithinMs, signal))
  }

  return {
    actorOf,

    /**
     * Performs actions in order until one fails; all are checked before.
     * @throws AppError VALIDATION_ERROR, CONFLICT during a takeover, and for a single action the errors of
     * `Actor.perform`.
     */
    execute,

    /** Performs one action once no person drives. Throws like `execute`, except CONFLICT. */
    act: (session: BrowserSession, input: ActionInput, signal: AbortSignal): Promise<ActionResult> =>
      afterTakeovers(session, signal, async () => (await execute(session, input, signal)).result ?? {}),

    /** Returns the result of `Actor.changes`, once no person drives. */
    changes: (session: BrowserSession, characters: number, signal: AbortSignal): Promise<string> =>
      afterTakeovers(session, signal, () =>
        session.inTurn(async () => {
          requireAgentDrives(session)
          return await (await actorOf(session)).changes(characters)
        }),
      ),

    /** Opens a file that a page of the session has downloaded. @throws AppError NOT_FOUND, CONFLICT */
    download: async (session: BrowserSession, id: string) =>
      await (await actorOf(session)).downloads.open(id),
  }
}

/** Retries work that found a person driving at its turn, and so did nothing. */
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

/** Ends a session in which nothing answers. */
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
