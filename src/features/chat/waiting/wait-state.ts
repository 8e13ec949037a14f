import { AppError } from '#platform/errors.ts'
import type { TurnRow, Waiting } from '../rows/turns.repository.ts'
import { wordsOf } from './wait-sentences.ts'

/** For the job that has a turn answered: it ends, since the end of the wait has it run again. */
export class TurnIsWaiting extends Error {
  constructor() {
    super('the turn waits for a person')
  }
}

/** The turn has ended, which no further run of its job changes. */
class WaitEnded extends AppError {}

/** Whether it says, in words for all, why a turn ended that has waited. */
export function isWaitOver(error: unknown): error is AppError {
  if (!(error instanceof AppError)) return false
  return error.code === 'APPROVAL_EXPIRED' || (error instanceof WaitEnded && error.code === 'CONFLICT')
}

/** Throws how a turn stands that has waited, unless it goes on. */
export function requireDecided(row: TurnRow): void {
  if (row.status === 'waiting') throw new TurnIsWaiting()
  if (row.status !== 'ended') return
  const { error } = JSON.parse(row.state ?? '{}') as { error?: { code: AppError['code']; message: string } }
  throw new WaitEnded(error?.code ?? 'CONFLICT', error?.message ?? wordsOf.abandoned)
}

/** As people and readers see it. */
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
