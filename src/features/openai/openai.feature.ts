import type { AccessFeature } from '#features/access/access.feature.ts'
import type { AgentsFeature } from '#features/agents/agents.feature.ts'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { Feature } from '#features/feature.ts'
import type { PaymentsFeature } from '#features/payments/payments.feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { createDoor } from './door.service.ts'
import { createModels } from './models.ts'
import { registerOpenAiRoutes } from './openai.routes.ts'

type Peers = Pick<AccessFeature, 'access' | 'openAgent'> &
  Pick<AgentsFeature, 'agents' | 'callerSignal'> &
  Pick<ChatFeature, 'planner' | 'running'> &
  Pick<PaymentsFeature, 'soldTo'>

/** Agents as models, for clients of OpenAI's API. */
export function createOpenai(infrastructure: Infrastructure, peers: Peers): Feature {
  const { configuration, clock, ids } = infrastructure
  const models = createModels(peers)
  const door = createDoor({ ...infrastructure, ...peers })
  // Files within JSON are a third longer.
  const maxBytes = Math.ceil((configuration.maxUploadBytes * 4) / 3)
  return { routes: app => registerOpenAiRoutes(app, { ...peers, models, door, maxBytes, clock, ids }) }
}
