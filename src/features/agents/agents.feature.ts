import type { AccessFeature } from '#features/access/access.feature.ts'
import { defaultAgentId } from '#features/access/access.service.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { SignalOf } from '#platform/http/closing.ts'
import { createAgentsRepository } from './agents.repository.ts'
import { registerAgentRoutes } from './agents.routes.ts'
import { type AgentsService, createAgentsService } from './agents.service.ts'
import { createSettingsRepository } from './settings.repository.ts'
import { registerSettingsRoutes } from './settings.routes.ts'
import { createSettingsService, type SettingsService } from './settings.service.ts'
import { createSettingsWarnings } from './settings-warnings.ts'

export interface AgentsFeature extends Feature {
  agents: AgentsService
  settings: SettingsService
  /** Returns a signal for long requests that aborts when their caller loses access. */
  callerSignal: SignalOf
  stillPermitted: AccessFeature['stillPermitted']
}

/** Manages agents and their settings. Resolves once the agent `default` exists. */
export async function createAgents(
  infrastructure: Infrastructure,
  {
    access,
    people,
    disabled,
    callerSignal,
    stillPermitted,
    requireReachable,
  }: Pick<AccessFeature, 'access' | 'people' | 'disabled' | 'callerSignal' | 'stillPermitted'> &
    Pick<Parameters<typeof createSettingsService>[0], 'requireReachable'>,
): Promise<AgentsFeature> {
  const { platform, agentDatabases, secretBox, models, outbound, events, configuration, clock, ids, log } =
    infrastructure
  const settings = createSettingsService({
    repository: createSettingsRepository(platform),
    secretBox,
    modelInForce: models.inForce,
    warningsOf: createSettingsWarnings({
      ...models,
      modelPrices: configuration.modelPrices,
      requirePermitted: outbound.requirePermitted,
    }),
    requireEmbedding: models.embedding,
    requireReachable,
    maxConversations: configuration.maxConversations,
    emitChanged: (agentId, names) => events.emit('settings.changed', { agentId, names }),
    clock,
  })
  const agents = createAgentsService({
    repository: createAgentsRepository(platform),
    settings,
    defaultAgentId,
    removeDatabase: agentId => agentDatabases.remove(agentId),
    forgetRoles: access.forgetRoles,
    disabled,
    activated: agentId => events.emit('agent.activated', { agentId }),
    clock,
    ids,
    log,
  })
  await agents.prepare()
  return {
    agents,
    settings,
    callerSignal: callerSignal(agents.isDisabled),
    stillPermitted,
    routes(app) {
      registerAgentRoutes(app, agents, people)
      registerSettingsRoutes(app, settings)
    },
  }
}
