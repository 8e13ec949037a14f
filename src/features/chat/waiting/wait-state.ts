import { AppError } from '#platform/errors.ts'
import type { TurnRow, Waiting } from '../rows/turns.repository.ts'
import { wordsOf } from './wait-sentences.ts'

/** Ends the job of a waiting turn; the end of the wait runs the job again. */
export class TurnIsWaiting extends Error {
  constructor() {
    super('the turn waits for a person')
  }
}

/** Thrown if the turn has ended: further runs of its job can't change that. */
class WaitEnded extends AppError {}

/** True if the error explains to people why a turn ended that has waited. */
export function isWaitOver(error: unknown): error is AppError {
  if (!(error instanceof AppError)) return false
  return error.code === 'APPROVAL_EXPIRED' || (error instanceof WaitEnded && error.code === 'CONFLICT')
}

/** Throws the state of a turn that has waited, unless it continues. */
export function requireDecided(row: TurnRow): void {
  if (row.status === 'waiting') throw new TurnIsWaiting()
  if (row.status !== 'ended') return
  const { error } = JSON.parse(row.state ?? '{}') as { error?: { code: AppError['code']; message: string } }
  throw new WaitEnded(error?.code ?? 'CONFLICT', error?.message ?? wordsOf.abandoned)
}

/** Returns the wait in the form for people and readers. */
export function shownWaiting({
  approval_id,
  tool_version: _,
  since: _since,
  resume: _resume,
  read: _read,
  ...shown
}: Waiting) {
  return shown.session_id === undefined ? { ...shown, approval_id } : shown
}
