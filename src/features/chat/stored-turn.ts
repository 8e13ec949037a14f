import type { Clock } from '#platform/clock.ts'
import type { Outbox } from '#platform/jobs/jobs.ts'
import type { RecordedTurn } from './answering/question.ts'
import { removeUnusedJobName } from './files/chat-files.service.ts'

export const turnJobName = 'turn'
export const removeTurnsJobName = 'remove_turns'
export const turnJobKey = (turnId: string) => `turn:${turnId}`

/** Begins a turn in the background, or goes on with it. */
export const turnJob = (turnId: string) => ({ name: turnJobName, payload: turnId, key: turnJobKey(turnId) })

/** What the row of a turn has as its state. */
export interface StoredState {
  recorded: RecordedTurn
  /** Index of the next delta. */
  deltas: number
}

/** Characters. */
const maxRead = 2000

/** The text of others that the model has read last, with where it stood; undefined if it has read none in this turn. */
export function lastRead({ recorded: { turn, found } }: StoredState): string | undefined {
  const last = turn.toolResults.findLast(({ result }) => result !== undefined)
  const [passage] = found
  if (last === undefined) return passage && `${passage.source}: ${passage.text}`.slice(0, maxRead)
  const text = typeof last.result === 'string' ? last.result : JSON.stringify(last.result)
  return `result of ${last.name}: ${text}`.slice(0, maxRead)
}

/** In the row of a turn that has ended: its message is stored. */
export function endedQuestion(id: string): string {
  return JSON.stringify({ message: { id } })
}

/** How long events are kept after the end of their turn, and turns for repeated sends, in milliseconds. */
export const keptMs = { events: 10 * 60_000, turns: 24 * 3_600_000 }

/** Within the transaction that ends a turn. @param unsent files of its message, which is not stored */
export async function removeLater(
  outbox: Pick<Outbox, 'add'>,
  clock: Clock,
  unsent: readonly unknown[] = [],
): Promise<void> {
  if (unsent.length > 0) await outbox.add({ name: removeUnusedJobName, payload: {} })
  for (const [payload, ms] of Object.entries(keptMs)) {
    const key = `${removeTurnsJobName}:${payload}`
    await outbox.add({ name: removeTurnsJobName, payload, key, runAt: clock.now() + ms })
  }
}
