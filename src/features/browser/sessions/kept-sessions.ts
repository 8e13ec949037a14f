import type { AgentHandle } from '#storage/agent-databases.ts'
import type { NewSession } from '../browser.schema.ts'
import { isOpen } from '../session-status.ts'
import type { BrowserSession } from './browser-session.ts'

/** Sessions that somebody else than a caller of the API keeps, such as a conversation: one for each. */
export function createKeptSessions(
  create: (agent: AgentHandle, wanted: NewSession) => Promise<BrowserSession>,
) {
  const sessions = new Map<string, Promise<BrowserSession>>()

  function open(key: string, agent: AgentHandle, profile: string | undefined): Promise<BrowserSession> {
    const opening = create(agent, profile === undefined ? {} : { profile })
    const forget = () => sessions.get(key) === opening && sessions.delete(key)
    sessions.set(key, opening)
    opening.then(session => session.events.on('ended', forget), forget)
    return opening
  }

  return {
    /** The session of `holder`, opened if there is none or it has ended. @throws AppError as `POST browser` answers */
    async keep(agent: AgentHandle, holder: string, profile?: string): Promise<BrowserSession> {
      const key = `${agent.agentId} ${holder}`
      const session = await (sessions.get(key) ?? open(key, agent, profile))
      return isOpen(session.status) ? session : await open(key, agent, profile)
    },

    find: ({ agentId }: AgentHandle, holder: string) => sessions.get(`${agentId} ${holder}`),
  }
}
