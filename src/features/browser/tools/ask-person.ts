import { Type } from 'typebox'
import type { Tool } from '#models/tools/tool.ts'
import { fromSchema } from '#models/tools/tool.ts'
import type { ToolTurn } from '#models/tools/tool-turn.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { orAborted } from '../actions/within.ts'
import type { BrowserSession } from '../sessions/browser-session.ts'
import type { Ending } from '../sessions/takeover.ts'
import type { Takeovers } from '../takeovers/takeovers.service.ts'

interface Dependencies {
  takeovers: Pick<Takeovers, 'request' | 'withdraw'>
  /** The session of the conversation, which is opened if there is none. */
  keep(): Promise<BrowserSession>
  /** What its page says, for the model. */
  read(signal: AbortSignal): Promise<string>
}

const schema = Type.Object({
  reason: Type.String({
    minLength: 1,
    maxLength: 1000,
    description: 'What the person should do, in a sentence or two for them.',
  }),
})

/** Has a model wait for a person who does what only a person may. The link goes to the caller of the chat, never to the model. */
export function createAskPerson({ takeovers, keep, read }: Dependencies) {
  return (agent: AgentHandle, turn: ToolTurn): Tool => ({
    name: 'browser_ask_person',
    description:
      'Asks a person to take over the open page, for what only they may do: sign in, enter a code, solve a captcha, pay. Waits until they hand back, and returns what the page says then.',
    ...{ isBuiltIn: true, observesChange: true },
    ...fromSchema(schema),
    async execute({ reason }, signal) {
      let session = await keep()
      // A person who drives already may be asked for more when they have handed back; meanwhile the session may end.
      while (session.takeover !== undefined) {
        await orAborted(session.takeover.ended, signal)
        session = await keep()
      }
      const { takeover, link } = await takeovers.request(agent, session, { reason: String(reason) }, 'agent')
      turn.report({
        type: 'takeover_requested',
        session_id: session.id,
        reason: takeover.reason,
        expires_at: link.expires_at,
        takeover_url: turn.isOutsider ? null : link.url,
      })
      try {
        const ending = await orAborted(takeover.ended, signal)
        const outcome = describeEnding(ending, takeover.status === 'active')
        return ending.outcome === 'session_ended' ? outcome : `${outcome}\n${await read(signal)}`
      } finally {
        await takeovers.withdraw(session, takeover)
      }
    },
  })
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
