import type { RecordedTurn } from './recorded-turn.ts'

export const turnJobName = 'turn'
/** Returns the key of the job that ends the wait of a turn. */
export const waitKey = (turnId: string) => `turn-wait:${turnId}`
export const turnJobKey = (turnId: string) => `turn:${turnId}`

/** Returns the job that begins or continues a turn in the background. */
export const turnJob = (turnId: string) => ({ name: turnJobName, payload: turnId, key: turnJobKey(turnId) })

/** The state in the row of a turn. */
export interface StoredState {
  recorded: RecordedTurn
  /** Index of the next delta. */
  deltas: number
}

/** Max length in characters. */
const maxRead = 2000

/** Returns the text of others that the model has read last, with its source; undefined if it has read none in this turn. */
export function lastRead({ recorded: { turn, found } }: StoredState): string | undefined {
  const last = turn.toolResults.findLast(({ result }) => result !== undefined)
  const [passage] = found
  if (last === undefined) return passage && `${passage.source}: ${passage.text}`.slice(0, maxRead)
  const text = typeof last.result === 'string' ? last.result : JSON.stringify(last.result)
  return `result of ${last.name}: ${text}`.slice(0, maxRead)
}
