import type { AccessFeature } from '#features/access/access.feature.ts'
import type { AgentsFeature } from '#features/agents/agents.feature.ts'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { Feature } from '#features/feature.ts'
import type { KnowledgeFeature } from '#features/knowledge/knowledge.feature.ts'
import type { PaymentsFeature } from '#features/payments/payments.feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { createDoor } from './door.service.ts'
import { createLargeBodies } from './large-bodies.ts'
import { createModels } from './models.ts'
import { registerOpenAiRoutes } from './openai.routes.ts'
import { createReadFiles } from './sent-files.ts'

type Peers = Pick<AccessFeature, 'access' | 'openAgent'> &
  Pick<AgentsFeature, 'agents' | 'callerSignal'> &
  Pick<ChatFeature, 'planner' | 'running' | 'files'> &
  Pick<KnowledgeFeature, 'attached'> &
  Pick<PaymentsFeature, 'soldTo'>

/** Offers agents as models to clients of OpenAI's API. */
export function createOpenai(infrastructure: Infrastructure, peers: Peers): Feature {
  const { configuration, clock, ids } = infrastructure
  const models = createModels(peers)
  const large = createLargeBodies(infrastructure)
  const { maxUploadBytes } = configuration
  const readFiles = createReadFiles({ ...infrastructure, ...peers, maxUploadBytes })
  const door = createDoor({ ...infrastructure, ...peers, readFiles })
  // Files within JSON are a third longer.
  const maxBytes = Math.ceil((maxUploadBytes * 4) / 3)
  return { routes: app => registerOpenAiRoutes(app, { ...peers, models, large, door, maxBytes, clock, ids }) }
}
