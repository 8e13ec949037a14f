import type { Access } from '#platform/http/app.ts'

/** The roles that an admin entry can give an e-mail address on an agent. */
export const roles = ['owner', 'admin', 'viewer', 'chat'] as const
export type Role = (typeof roles)[number]

/** The permission of callers without a user on the agent `default`; `page` is `chat` for a web page of another site. */
export type PublicAccess = 'full' | 'chat' | 'page' | 'read'

/**
 * Permissions on an agent; each includes the ones before it, but for `chat`, which opens only routes that say so. `member` is the
 * role `chat` on an agent that everyone may read: `chatter`, and what is open to that role.
 */
export const permissions = ['chat', 'viewer', 'chatter', 'member', 'admin', 'owner'] as const
export type Permission = (typeof permissions)[number]
/** The access of routes on an agent. */
export type AgentAccess = Extract<Access, Permission>

export const publicPermissions = { full: 'admin', chat: 'chatter', page: 'chatter', read: 'viewer' } as const

/** The role nearest to the public permission: callers who may chat may do more than a viewer, but no role matches that. */
export const publicRoles = { full: 'admin', chat: 'viewer', page: 'viewer', read: 'viewer' } as const

export function isRole(text: string | null): text is Role {
  return text !== null && (roles as readonly string[]).includes(text)
}

/** Returns the permission of a role on an agent that is open to everyone with `open`: everything that either allows. */
export function greater(role: Role, open: Permission): Permission {
  const both = role === 'chat' ? 'member' : role
  return permissions.indexOf(both) < permissions.indexOf(open) ? open : both
}

/** Returns the permission that both include; undefined for a viewer's and that of the role `chat`, which share nothing. */
export function lesser(one: Permission, other: Permission): Permission | undefined {
  const [less, more] = permissions.indexOf(one) < permissions.indexOf(other) ? [one, other] : [other, one]
  return less === 'chat' && more === 'viewer' ? undefined : less
}

/** Returns whether a permission suffices for a route of an agent; `chat` marks a route as open to the role `chat`. */
export function allows(permission: Permission, access: AgentAccess, chat = false): boolean {
  if (permission === 'chat' || (permission === 'member' && chat)) return chat
  return permissions.indexOf(permission) >= permissions.indexOf(access)
}

/** Returns whether a route's access is one on an agent, so that a permission on that agent decides. */
export function isAgentAccess(access: Access): access is AgentAccess {
  return (permissions as readonly Access[]).includes(access)
}

export const chatRefusal =
  'Access denied: the role "chat" sends messages, and sees the conversations that it began. Ask an owner for the role "viewer".'
export const keyRefusal =
  'Access denied: an API key manages neither keys nor admins, invitations and sessions. Sign in as a person.'

const proofs =
  'Sign in by an invitation that comes by mail, by the identity provider, or by a link of the operator (npm run sign-in).'
export const invitedRefusal = `Access denied: your address is not proved, since others saw the link of your invitation. So you reach the agents of that invitation alone, and make no keys, agents or invitations. ${proofs}`

const makers = {
  anyone: 'people who sign in',
  proved: 'people whose address is proved',
  owners: 'owners of an agent, and people whom the operator or OIDC_ROLES let in,',
}

/** @param agentsBy the setting AGENTS_BY */
export function makerRefusal(agentsBy: keyof typeof makers | readonly string[]): string {
  const who = typeof agentsBy === 'string' ? makers[agentsBy] : 'people whom AGENTS_BY names'
  const way = agentsBy === 'proved' ? `${proofs} ` : ''
  return `Access denied: only ${who} make agents here, and no limited API keys. ${way}The operator changes the rule by AGENTS_BY.`
}

/** Returns why access was refused, and what to do about it. */
export function refusal(access: Access, isDefaultAgent: boolean, isForeignPage: boolean): string {
  if (access === 'owner' && isDefaultAgent)
    return 'Access denied: the agent "default" cannot be deleted, and only an owner of it, who has signed in by the first link, changes its admins.'
  if (access === 'owner') return 'Access denied: this needs the role "owner" on the agent.'
  if (isForeignPage)
    return (
      "Access denied: web pages of other sites may only read and chat here. Use the service's own address, which is a " +
      'loopback one or BASE_URL, or set PUBLIC_ACCESS=full: every page that somebody visits may then change the agent.'
    )
  return `Access denied: this needs at least the role "${access === 'chatter' ? 'admin' : access}" on the agent.`
}
