import type { AccessFeature } from '#features/access/access.feature.ts'
import type { ChannelsFeature } from '#features/channels/channels.feature.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { findNamedAgents } from '#infrastructure/named-agents.ts'
import { createSharedCounts } from '#storage/shared-counts.ts'
import { createInvitations } from './invitations.service.ts'
import { createFileLinks, createStoredLinks } from './links.ts'
import { createOidc } from './oidc.ts'
import { registerPeopleRoutes } from './people.routes.ts'
import { createCookies, createSessions } from './sessions.ts'
import { createSignInRepository } from './sign-in.repository.ts'
import { registerSignInRoutes } from './sign-in.routes.ts'
import { createSignInService } from './sign-in.service.ts'

/** Interval of the checks for sessions that the operator ends, in milliseconds. */
const lookEveryMs = 2_000

export interface SignInFeature extends Feature {
  firstLink: ReturnType<typeof createSignInService>['firstLink']
}

type Peers = Pick<AccessFeature, 'access' | 'people' | 'signInBy' | 'personSignsIn'> &
  Pick<ChannelsFeature, 'channels'>

/** Signs people in if there is no identity gateway. */
export async function createSignIn(infrastructure: Infrastructure, peers: Peers): Promise<SignInFeature> {
  const { platform, configuration, secretBox, clock, log, isExclusive } = infrastructure
  const { baseUrl, dataDirectory, oidc: settings } = configuration
  const { access, people, channels, personSignsIn: begins } = peers
  const cookies = createCookies(
    secretBox.derive(['names of cookies']).replaceAll(/\W|_/g, '').slice(0, 8),
    baseUrl,
  )
  const repository = createSignInRepository(platform)
  const shared = { ...infrastructure, repository, cookies, access, people, baseUrl }
  const sessions = createSessions({ ...shared, begins })
  const files = isExclusive ? createFileLinks(dataDirectory, clock) : undefined
  const links = files ?? createStoredLinks(platform, clock)
  const failed = (error: unknown) => log.error({ err: error }, 'sessions could not be ended for the operator')
  const takeRevocations = async () => await files?.takeRevocations(people.signOut).catch(failed)
  let looking: NodeJS.Timeout | undefined
  const service = createSignInService({ ...shared, links, groupRoles: await groupRolesOf(infrastructure) })
  const mails = createSharedCounts(platform, clock)
  const invitations = createInvitations({ ...shared, mails, sendMail: channels.sendPlatformMail })
  const oidc = settings && createOidc(settings, infrastructure)
  const provider = settings && new URL(settings.issuer).host
  peers.signInBy(sessions.identify)
  return {
    firstLink: service.firstLink,
    async start() {
      if (files !== undefined) looking = setInterval(takeRevocations, lookEveryMs).unref()
      await takeRevocations()
    },
    stop: async () => clearInterval(looking),
    routes(app) {
      registerSignInRoutes(app, { ...shared, service, sessions, oidc, provider })
      registerPeopleRoutes(app, { ...shared, sessions, invitations })
    },
  }
}

/** Returns roles by groups, by the ids of agents. Names are resolved only at start, because any agent can take one later. */
async function groupRolesOf({ platform, configuration: { oidc } }: Infrastructure) {
  if (oidc === undefined) return []
  const ids = await findNamedAgents(
    platform,
    oidc.roles.map(({ agent }) => agent),
  )
  return oidc.roles.map(({ group, agent, role }) => ({ group, id: ids.get(agent) ?? '', role }))
}
