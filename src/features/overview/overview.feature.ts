import type { AgentsFeature } from '#features/agents/agents.feature.ts'
import { eventsChange } from '#features/chat/chat.events.ts'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { type MaySee, registerAttentionRoutes, registerEventRoutes } from './overview.routes.ts'

/** The types of changes that have the id of their conversation. */
const inConversations = ['conversations', 'messages', 'approvals']

/** One view of all features of an agent: their changes, and everything that waits for a person. */
export function createOverview(
  { changes, clock }: Infrastructure,
  { callerSignal, maySee: maySeeConversation }: Pick<AgentsFeature & ChatFeature, 'callerSignal' | 'maySee'>,
): Feature {
  const maySee: MaySee = (request, { type, id }) => {
    if (type === eventsChange) return false
    if (!request.isChatOnly) return true
    if (!inConversations.includes(type)) return false
    // A change without an id might concern any conversation, also the caller's own.
    return id === undefined || maySeeConversation(request, id)
  }
  const ending = new AbortController()
  return {
    routes(app) {
      registerAttentionRoutes(app, clock)
      registerEventRoutes(app, { changes, maySee, callerSignal, stopping: ending.signal, clock })
    },
    async drain() {
      ending.abort()
    },
  }
}
