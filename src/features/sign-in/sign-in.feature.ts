import type { AccessFeature } from '#features/access/access.feature.ts'
import type { ChannelsFeature } from '#features/channels/channels.feature.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { findNamedAgents } from '#infrastructure/named-agents.ts'
import { createInvitations } from './invitations.service.ts'
import { createFileLinks, createStoredLinks } from './links.ts'
import { createOidc } from './oidc.ts'
import { registerPeopleRoutes } from './people.routes.ts'
import { createCookies, createSessions } from './sessions.ts'
import { createSignInRepository } from './sign-in.repository.ts'
import { registerSignInRoutes } from './sign-in.routes.ts'
import { createSignInService } from './sign-in.service.ts'

export interface SignInFeature extends Feature {
  firstLink: ReturnType<typeof createSignInService>['firstLink']
}

type Peers = Pick<AccessFeature, 'access' | 'signInBy' | 'sessionsEnded' | 'personSignsIn'> &
  Pick<ChannelsFeature, 'channels'>

/** How people come in without an identity gateway. */
export async function createSignIn(infrastructure: Infrastructure, peers: Peers): Promise<SignInFeature> {
  const { platform, configuration, secretBox, clock, isExclusive } = infrastructure
  const { baseUrl, dataDirectory, oidc: settings } = configuration
  const { access, channels, sessionsEnded: ended, personSignsIn: begins } = peers
  const cookies = createCookies(
    secretBox.derive(['names of cookies']).replaceAll(/\W|_/g, '').slice(0, 8),
    baseUrl,
  )
  const shared = { ...infrastructure, repository: createSignInRepository(platform), cookies, access, baseUrl }
  const sessions = createSessions({ ...shared, begins, ended })
  const links = isExclusive ? createFileLinks(dataDirectory, clock) : createStoredLinks(platform, clock)
  const service = createSignInService({ ...shared, links, groupRoles: await groupRolesOf(infrastructure) })
  const invitations = createInvitations({ ...shared, sendMail: channels.sendPlatformMail })
  const oidc = settings && createOidc(settings, infrastructure)
  const provider = settings && new URL(settings.issuer).host
  peers.signInBy(sessions.identify)
  return {
    firstLink: service.firstLink,
    routes(app) {
      registerSignInRoutes(app, { ...shared, service, sessions, oidc, provider })
      registerPeopleRoutes(app, { ...shared, sessions, invitations })
    },
  }
}

/** Roles by groups, by the ids of agents: names are looked up now alone, since later any agent may take one. */
async function groupRolesOf({ platform, configuration: { oidc } }: Infrastructure) {
  if (oidc === undefined) return []
  const ids = await findNamedAgents(
    platform,
    oidc.roles.map(({ agent }) => agent),
  )
  return oidc.roles.map(({ group, agent, role }) => ({ group, id: ids.get(agent) ?? '', role }))
}
