import type { AgentsFeature } from '#features/agents/agents.feature.ts'
import type { SettingsEvents } from '#features/agents/settings.events.ts'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { ContactsFeature } from '#features/contacts/contacts.feature.ts'
import type { Feature, Subscriptions } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { createAnswerJob } from './answer-messages.job.ts'
import { registerChannelRoutes } from './channels.routes.ts'
import { type ChannelsService, createChannelsService } from './channels.service.ts'
import { registerIncomingRoutes } from './incoming.routes.ts'
import { answerJobName, createIncomingService } from './incoming.service.ts'

export interface ChannelsFeature extends Feature {
  channels: ChannelsService
}

type Peers = Pick<AgentsFeature, 'settings'> &
  Pick<ContactsFeature, 'contacts'> &
  Pick<ChatFeature, 'answerOnce' | 'abandon' | 'editMessage' | 'files'>

/** Mail and messengers: ways for agents to reach people, and for people to reach agents. */
export function createChannels(infrastructure: Infrastructure, peers: Peers): ChannelsFeature {
  const { configuration, outbound, agentDatabases, transact, ids, log } = infrastructure
  const channels = createChannelsService({ ...configuration, ...peers, outbound })
  const incoming = createIncomingService({ ...infrastructure, ...peers })

  /** Answers messages that have waited for the agent's owner now. */
  const answerNow = async ({ agentId }: { agentId: string }) =>
    await agentDatabases
      .use(agentId, agent => transact(agent, (_transaction, outbox) => outbox.runNow(answerJobName)))
      .catch(error => log.warn({ err: error, agentId }, 'messages on channels are answered later'))

  return {
    channels,
    routes(app) {
      registerChannelRoutes(app, { channels, ids })
      registerIncomingRoutes(app, { ...peers, incoming })
    },
    jobs: { [answerJobName]: createAnswerJob({ ...infrastructure, ...configuration, ...peers, channels }) },
    subscriptions: {
      'agent.activated': answerNow,
      'settings.changed': answerNow,
    } satisfies Subscriptions<SettingsEvents>,
  }
}
