import type { AccessFeature } from '#features/access/access.feature.ts'
import type { AgentsFeature } from '#features/agents/agents.feature.ts'
import type { AuditFeature } from '#features/audit/audit.feature.ts'
import type { ChannelsFeature } from '#features/channels/channels.feature.ts'
import { pressJobName } from '#features/channels/incoming.service.ts'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { ContactsFeature } from '#features/contacts/contacts.feature.ts'
import type { Feature } from '#features/feature.ts'
import type { WorkflowsFeature } from '#features/workflows/workflows.feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { registerDecisionRoutes } from './decisions.routes.ts'
import { createDecisions } from './decisions.service.ts'
import { createNoticeTokens } from './notice-tokens.ts'
import { createPressJob } from './press.job.ts'
import { chosenIn, createReach, type Notify } from './reach.ts'
import { createSendNotice } from './send-notice.job.ts'

export interface NoticesFeature extends Feature {
  /** Throws VALIDATION_ERROR if the contact in a setting can't be notified. */
  requireReachable(agentId: string, notify: Notify): Promise<void>
}

type Peers = Pick<AccessFeature, 'access'> &
  Pick<AgentsFeature, 'settings'> &
  Pick<AuditFeature, 'recordWork'> &
  Pick<ChannelsFeature, 'channels'> &
  Pick<ChatFeature, 'approvals'> &
  Pick<ContactsFeature, 'contacts'> &
  Pick<WorkflowsFeature, 'executions'>

/** Sends contacts messages about requests that wait for a person. Contacts decide by these messages. */
export function createNotices(infrastructure: Infrastructure, peers: Peers): NoticesFeature {
  const { agentDatabases, configuration, secretBox } = infrastructure
  const reach = createReach(peers)
  const tokens = createNoticeTokens(secretBox)
  const needs = { ...infrastructure, ...peers, reach, tokens, baseUrl: configuration.baseUrl }
  const decisions = createDecisions(needs)
  return {
    requireReachable: (agentId, notify) =>
      agentDatabases.use(agentId, async agent => {
        const { channel, contactId } = chosenIn(notify)
        await reach(agent, channel, contactId)
      }),
    eventHandlers: { notice: createSendNotice(needs) },
    jobs: { [pressJobName]: createPressJob({ ...needs, decisions }) },
    routes: app => registerDecisionRoutes(app, { ...needs, decisions }),
  }
}
