import { createAccessRepository } from '#features/access/access.repository.ts'
import { registerAccessRoutes } from '#features/access/access.routes.ts'
import { createAccessService, defaultAgentId } from '#features/access/access.service.ts'
import { createAccessWatch } from '#features/access/access-watch.ts'
import { createDecision, registerAgentRelease } from '#features/access/authorize.ts'
import { createCallerSignal } from '#features/access/caller-signal.ts'
import { createGateway } from '#features/access/gateway.ts'
import type { Identify } from '#features/access/identify.ts'
import { identifyAsDeveloper, identifyByGateway, identifyNobody } from '#features/access/identify.ts'
import { publicAccessFor, refuseOtherSites } from '#features/access/web-pages.ts'
import { createAgentsRepository } from '#features/agents/agents.repository.ts'
import { registerAgentRoutes } from '#features/agents/agents.routes.ts'
import { createAgentsService } from '#features/agents/agents.service.ts'
import { createSettingsRepository } from '#features/agents/settings.repository.ts'
import { registerSettingsRoutes } from '#features/agents/settings.routes.ts'
import { createSettingsService } from '#features/agents/settings.service.ts'
import type { Models } from '#models/models.ts'
import type { Clock } from '#platform/clock.ts'
import { registerAccess } from '#platform/http/access.ts'
import type { App } from '#platform/http/app.ts'
import type { Configuration } from '../config.ts'
import type { Foundation } from './foundation.ts'
import type { Surroundings } from './surroundings.ts'

interface Needs {
  configuration: Configuration
  foundation: Foundation
  surroundings: Surroundings
  models: Models
}

/** How often to look for changes by other processes to who may use an agent, in milliseconds. */
const lookAgainMs = 5_000

/** Decides access for every route registered from here on, and composes agents, their settings and admins. */
export async function composeAgents(app: App, { configuration, foundation, surroundings, models }: Needs) {
  const { platform, agentDatabases, secretBox } = foundation
  const { clock, ids, log } = surroundings
  const watch = createAccessWatch(foundation.isExclusive ? undefined : lookAgainMs)
  const access = createAccessService({
    repository: createAccessRepository(platform),
    isExclusive: foundation.isExclusive,
    roleTakenAway: watch.tell,
    clock,
    ids,
  })
  const identify = identifyFor(configuration, clock)
  const publicAccess = publicAccessFor(configuration.publicAccess, configuration.baseUrl)
  registerAccess(app, createDecision({ identify, publicAccess, access, agentDatabases }))
  registerAgentRelease(app)

  const settings = createSettingsService({
    repository: createSettingsRepository(platform),
    secretBox,
    modelInForce: models.inForce,
    requireEmbedding: models.embedding,
    tellChanged: (agentId, names) => foundation.events.emit('settings.changed', { agentId, names }),
    clock,
  })
  const agents = createAgentsService({
    repository: createAgentsRepository(platform),
    settings,
    defaultAgentId,
    removeDatabase: agentId => agentDatabases.remove(agentId),
    forgetRoles: access.forgetRoles,
    disabled: watch.tell,
    clock,
    ids,
    log,
  })
  await agents.prepare()
  registerAgentRoutes(app, agents)
  registerSettingsRoutes(app, settings)
  registerAccessRoutes(app, access)
  const { isDisabled } = agents
  return { agents, settings, callerSignal: createCallerSignal({ access, watch, isDisabled, log }) }
}

function identifyFor({ gateway, devUser, baseUrl }: Configuration, clock: Clock): Identify {
  if (gateway !== undefined) {
    const identify = identifyByGateway(gateway.header, createGateway(gateway, clock))
    return refuseOtherSites(identify, gateway.header, baseUrl)
  }
  return devUser === undefined ? identifyNobody : identifyAsDeveloper(devUser)
}
