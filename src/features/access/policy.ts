import type { Access } from '#platform/http/app.ts'

/** The roles that an admin entry can give an e-mail address on an agent. */
export const roles = ['owner', 'admin', 'viewer'] as const
export type Role = (typeof roles)[number]

/** The permission of callers without a user on the agent `default`; `page` is `chat` for a web page of another site. */
export type PublicAccess = 'full' | 'chat' | 'page' | 'read'

/** Permissions on an agent; each includes the ones before it. */
const permissions = ['viewer', 'chatter', 'admin', 'owner'] as const
export type Permission = (typeof permissions)[number]

export const publicPermissions = { full: 'admin', chat: 'chatter', page: 'chatter', read: 'viewer' } as const

/** The role nearest to the public permission: a caller who may chat may do more than a viewer, but there is no role for that. */
export const publicRoles = { full: 'admin', chat: 'viewer', page: 'viewer', read: 'viewer' } as const

/** Whether a permission is enough for a route of an agent. */
export function allows(permission: Permission, access: Extract<Access, Permission>): boolean {
  return permissions.indexOf(permission) >= permissions.indexOf(access)
}

/** Whether a route's access is one on an agent, so that a permission on that agent decides. */
export function isAgentAccess(access: Access): access is Permission {
  return (permissions as readonly Access[]).includes(access)
}

/** Why access was refused, in words that say what to do. */
export function refusal(access: Access, isDefaultAgent: boolean, isForeignPage: boolean): string {
  if (access === 'owner' && isDefaultAgent)
    return 'Access denied: the agent "default" belongs to nobody. It cannot be deleted, and its admins cannot be changed.'
  if (access === 'owner') return 'Access denied: this needs the role "owner" on the agent.'
  if (isForeignPage)
    return (
      "Access denied: web pages of other sites may only read and chat here. Use the service's own address, which is a " +
      'loopback one or BASE_URL, or set PUBLIC_ACCESS=full: every page that somebody visits may then change the agent.'
    )
  return `Access denied: this needs at least the role "${access === 'chatter' ? 'admin' : access}" on the agent.`
}
