import type { PersonWait } from '#models/tools/tool-turn.ts'
import { AppError } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import { findStanding } from '../rows/turns.repository.ts'
import type { Running } from '../turn/running.ts'
import type { Settled, WaitingTurns } from './waiting.service.ts'

/** Interval (ms) of the check that the turn still waits, because any process can end the wait. */
const lookMs = 1_000

const late = 'more time of a person could not be stored'

interface Dependencies {
  waiting: Pick<WaitingTurns, 'settle' | 'prolong'>
  running: Pick<Running, 'run'>
  /** Aborted when the service stops. */
  stopping: AbortSignal
  agentDatabases: Pick<AgentDatabases, 'acquire'>
  log: Log
}

/** The waiting call of a turn, and its wait. */
export interface HeldCall {
  agentId: string
  turnId: string
  callId: string
  wait: PersonWait
}

/**
 * Waits for persons in the browsers of this process, for parked turns, and passes the results to the turns. Resolves once it
 * has begun; withdraws the request at once for a turn that was not parked.
 */
export function createHeldWaits({ waiting, running, stopping, agentDatabases, log }: Dependencies) {
  return async (isParked: boolean, { agentId, turnId, callId, wait }: HeldCall): Promise<void> => {
    const agent = isParked ? await agentDatabases.acquire(agentId).catch(() => undefined) : undefined
    if (agent === undefined) {
      await wait.result(AbortSignal.abort(), () => {}).catch(() => {})
      return
    }
    const work = async (ending: AbortController) => {
      const look = async () => {
        if ((await findStanding(agent.db, turnId))?.status !== 'waiting') ending.abort()
      }
      const prolonged = (until: number) =>
        void waiting
          .prolong(agent, turnId, callId, until)
          .catch(error => log.error({ err: error, turnId }, late))
      const looking = setInterval(() => void look().catch(() => {}), lookMs).unref()
      try {
        const settled = await wait.result(ending.signal, prolonged).then(result => ({ result }), failureOf)
        if (!ending.signal.aborted) await waiting.settle(agent, turnId, callId, settled)
      } finally {
        clearInterval(looking)
        agent.release()
      }
    }
    void running
      .run([agent.signal, stopping], work)
      .catch(error => log.error({ err: error, agentId, turnId }, 'a turn could not go on after its wait'))
  }
}

export type HoldWait = ReturnType<typeof createHeldWaits>

function failureOf(error: unknown): Settled {
  if (!(error instanceof AppError)) return { error: 'The call failed after the person was done.' }
  return error.code === 'APPROVAL_EXPIRED' ? 'expired' : { error: error.message }
}
