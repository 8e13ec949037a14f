import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ChangeFeed } from '#platform/change-feed.ts'
import { invalid, required } from '#platform/errors.ts'
import type { SignalOf } from '#platform/http/closing.ts'
import { sendEvents } from '#platform/http/responses/sse.ts'
import { completion } from '../answering/stream-answer.ts'
import { sightOf } from '../reach.ts'
import { findMessage } from '../rows/messages.repository.ts'
import { findStanding, readEvents } from '../rows/turns.repository.ts'
import type { StreamEvent } from '../stream-events.schema.ts'
import { followTurn } from './follow-turn.ts'

interface Dependencies {
  changes: ChangeFeed
  callerSignal: SignalOf
  /** Aborted when the service stops: readers continue at another process. */
  stopping: AbortSignal
}

/** Sends the events of turns to callers while they may read them. */
export function createTurnEvents({ changes, callerSignal, stopping }: Dependencies) {
  function send(request: FastifyRequest, reply: FastifyReply, turnId: string, after = 0): void {
    const { agent } = request
    const signal = AbortSignal.any([callerSignal(request, reply), agent.signal, stopping])
    const last = () => lastOf(request, turnId)
    sendEvents(reply, followTurn({ agent, turnId, after, changes, signal, last }))
  }

  return {
    send,

    /** Responds 204 if the turn is over without events after the place. Throws NOT_FOUND for a turn that the caller can't see. */
    async follow(request: FastifyRequest, reply: FastifyReply, turnId: string, place: string | undefined) {
      const { db } = request.agent
      const turn = required(await findStanding(db, turnId, sightOf(request)), 'Turn')
      const after = numberIn(place, turnId)
      const isRead = turn.ended_at !== null && (await readEvents(db, turnId, after)).length === 0
      if (isRead) return reply.code(204).send()
      send(request, reply, turnId, after)
      return reply
    },
  }
}

export type TurnEvents = ReturnType<typeof createTurnEvents>

/** Returns the last event of a turn whose events are deleted. */
async function lastOf({ agent }: FastifyRequest, turnId: string): Promise<StreamEvent> {
  const message = await findMessage(agent.db, turnId)
  if (message !== undefined) return completion(message)
  return { type: 'error', code: 'NOT_FOUND', message: 'The turn has ended, and its answer was deleted.' }
}

/** Returns the number of an event; a place is that number, or the event's id. */
function numberIn(place: string | undefined, turnId: string): number {
  if (place === undefined || place === '') return 0
  const number = Number(place.startsWith(`${turnId}.`) ? place.slice(turnId.length + 1) : place)
  if (!Number.isInteger(number) || number < 0)
    throw invalid('after', 'is neither the id of an event of this turn nor a number')
  return number
}
