import { Type } from 'typebox'
import { fromSchema, type Tool } from '#models/tools/tool.ts'
import { CallWaits, type PersonWait, type ToolTurn } from '#models/tools/tool-turn.ts'
import { AppError } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { orAborted } from '../actions/within.ts'
import type { BrowserSession } from '../sessions/browser-session.ts'
import type { Ending, Takeover } from '../sessions/takeover.ts'
import { whileProlonged } from '../takeovers/prolonged.ts'
import type { Takeovers } from '../takeovers/takeovers.service.ts'

interface Dependencies {
  takeovers: Pick<Takeovers, 'request' | 'withdraw'>
  /** Returns the session of the conversation, or opens one. */
  keep(): Promise<BrowserSession>
  /** Returns the text of the page, for the model. */
  read(signal: AbortSignal): Promise<string>
}

const schema = Type.Object({
  reason: Type.String({
    minLength: 1,
    maxLength: 1000,
    description: 'What the person should do, in a sentence or two for them.',
  }),
})

/** Pauses the model until a person completes a step. The link goes to the caller of the chat, never to the model. */
export function createAskPerson(needs: Dependencies) {
  return (agent: AgentHandle, turn: ToolTurn): Tool => {
    const { park, ask } = createRequests(needs, agent, turn)
    return {
      name: 'browser_ask_person',
      description:
        'Asks a person to take over the open page, for what only they may do: sign in, enter a code, solve a captcha, pay. Waits until they hand back, and returns what the page says then.',
      isBuiltIn: true,
      observesChange: true,
      ...fromSchema(schema),
      async execute({ reason: given }, signal) {
        const reason = String(given)
        const session = await needs.keep()
        if (turn.waitSeconds !== undefined) throw await park(session, reason)
        return await ask(session, reason, signal)
      },
    }
  }
}

function createRequests({ takeovers, keep, read }: Dependencies, agent: AgentHandle, turn: ToolTurn) {
  const { waitSeconds: timeout } = turn
  /** Set once the turn is parked, because its reports are then dropped. */
  let isParked = false

  async function request(session: BrowserSession, reason: string): Promise<Takeover> {
    const wanted = { reason, ...(timeout !== undefined && { timeout }) }
    const { takeover, link } = await takeovers.request(agent, session, wanted, 'agent')
    if (!isParked)
      turn.report({
        type: 'takeover_requested',
        session_id: session.id,
        reason: takeover.reason,
        expires_at: link.expires_at,
        takeover_url: turn.isOutsider ? null : link.url,
      })
    return takeover
  }

  async function answered(session: BrowserSession, takeover: Takeover, signal: AbortSignal): Promise<string> {
    try {
      const ending = await orAborted(takeover.ended, signal)
      if (ending.outcome === 'expired' && timeout !== undefined)
        throw new AppError('APPROVAL_EXPIRED', 'No person has handed the browser back in time.')
      const outcome = describeEnding(ending, takeover.status === 'active')
      return ending.outcome === 'session_ended' ? outcome : `${outcome}\n${await read(signal)}`
    } finally {
      await takeovers.withdraw(session, takeover)
    }
  }

  /** Returns what to throw instead of a result, if the turn can be parked. */
  async function park(session: BrowserSession, reason: string): Promise<CallWaits> {
    const takeover = session.takeover ? undefined : await request(session, reason)
    isParked = true
    const result: PersonWait['result'] = (signal, prolonged) =>
      whileProlonged(session, prolonged, () =>
        takeover ? answered(session, takeover, signal) : ask(session, reason, signal),
      )
    return new CallWaits({ session_id: session.id, reason, result })
  }

  async function ask(kept: BrowserSession, reason: string, signal: AbortSignal): Promise<string> {
    let session = kept
    // A person who already drives can get a further request after handing back; meanwhile the session can end.
    while (session.takeover !== undefined) {
      await orAborted(session.takeover.ended, signal)
      session = await keep()
    }
    return await answered(session, await request(session, reason), signal)
  }

  return { park, ask }
}

function describeEnding({ outcome, note }: Ending, wasDriven: boolean): string {
  const sentences = {
    handed_back: 'The person has handed the browser back.',
    expired: wasDriven
      ? 'The time of the person was over before they handed the browser back.'
      : 'Nobody came in time. Go on without, or say that a person is needed.',
    aborted: 'The request was withdrawn.',
    session_ended: 'The browser session has ended meanwhile.',
  }
  return [sentences[outcome], ...(note === null ? [] : [`Their note: ${note}`])].join('\n')
}
