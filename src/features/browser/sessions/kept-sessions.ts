import type { AgentHandle } from '#storage/agent-databases.ts'
import type { BrowserSession } from './browser-session.ts'
import type { HeldSessions } from './held-sessions.ts'
import type { NewSession } from './sessions.schema.ts'

/** Sessions whose holder is no caller of the API, such as a conversation: one for each holder. */
export function createKeptSessions(
  create: (agent: AgentHandle, wanted: NewSession) => Promise<BrowserSession>,
  held: Pick<HeldSessions, 'find' | 'end'>,
) {
  const sessions = new Map<string, Promise<BrowserSession>>()

  function open(key: string, agent: AgentHandle, profile: string | undefined): Promise<BrowserSession> {
    const opening = create(agent, profile === undefined ? {} : { profile })
    sessions.set(key, opening)
    opening.then(
      session => session.events.on('ended', () => void forget(key, opening, session.id)),
      () => sessions.delete(key),
    )
    return opening
  }

  /** Forgets a session after its end, because its profile lacks its changes until then. */
  async function forget(key: string, opening: Promise<BrowserSession>, id: string): Promise<void> {
    await held.end(id)
    if (sessions.get(key) === opening) sessions.delete(key)
  }

  return {
    /** Returns the session of `holder`, opened if it has none. @throws AppError like `POST browser` */
    async keep(agent: AgentHandle, holder: string, profile?: string): Promise<BrowserSession> {
      const key = `${agent.agentId} ${holder}`
      const opening = sessions.get(key) ?? open(key, agent, profile)
      const session = await opening
      if (held.find(agent.agentId, session.id) !== undefined) return session
      await forget(key, opening, session.id)
      return await (sessions.get(key) ?? open(key, agent, profile))
    },

    find: ({ agentId }: AgentHandle, holder: string) => sessions.get(`${agentId} ${holder}`),
  }
}

export type KeptSessions = ReturnType<typeof createKeptSessions>
