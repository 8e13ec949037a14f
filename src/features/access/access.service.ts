import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { describeChange } from '#platform/current-change.ts'
import { inOneCase } from '#platform/email-address.ts'
import { AccessDenied, conflict, invalid, notFound, required } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import { unstorable } from '#platform/http/requests/storable-text.ts'
import type { Ids } from '#platform/ids.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AccessRepository } from './access.repository.ts'
import type { AdminChanges, AdminEntry, NewAdmin } from './access.schema.ts'
import type { Caller, CallerKey } from './caller.ts'
import type { GivenRoles } from './given-roles.ts'
import type { Permission, PublicAccess, Role } from './policy.ts'
import { greater, lesser, publicPermissions, publicRoles } from './policy.ts'
import type { KnownRole } from './role-memory.ts'
import { readAnew, remember } from './role-memory.ts'

/** The agent that exists from the first start and that needs no user. */
export const defaultAgentId = 'default'

/** The caller, and its permission where it has no role. */
export interface Asked {
  caller: Caller
  publicAccess: PublicAccess
}

const inviteHint =
  'This person has not signed in here yet: POST /api/invitations makes a link with which they can.'

interface Dependencies {
  repository: AccessRepository
  /** Whether an identity gateway lets people in. */
  hasGateway: boolean
  /** Whether no other process changes roles, so that they may be remembered. */
  isExclusive: boolean
  /** Called when all that is remembered of an agent may be wrong. */
  forgetMore(): void
  /** Called when a role on the agent was taken away. */
  roleTakenAway(agentId: string): void
  clock: Clock
  ids: Ids
  log: Log
}

export function createAccessService(needs: Dependencies) {
  const { repository, isExclusive } = needs
  const roles = isExclusive ? remember(repository.findRole) : readAnew(repository.findRole)

  const rolesOf = (agentId: string, email: string, key: CallerKey | undefined) =>
    key?.creatorOn?.agentId === agentId ? key.creatorOn.known : roles.find(agentId, email)

  return {
    /**
     * The permission of a caller on an agent. The answer does not show which agents exist:
     * without a user a missing agent is refused like a closed one; a user gets NOT_FOUND.
     */
    permissionOn(agentId: string, asked: Asked): Permission | Promise<Permission> {
      const { publicAccess } = asked
      const { user, key } = asked.caller
      const email = user?.email ?? key?.creator
      if (email === undefined) {
        if (agentId === defaultAgentId) return publicPermissions[publicAccess]
        throw new AccessDenied('Access denied: only the agent "default" is open to callers without a user.')
      }
      const issue = unstorable(agentId)
      if (issue !== undefined) throw invalid('id', issue)
      if (key?.agents?.includes(agentId) === false)
        throw new AccessDenied('Access denied: this API key does not reach this agent.')
      const found = rolesOf(agentId, email, key)
      const judge = (known: KnownRole | undefined) => {
        const permission = permissionOfPerson(known, agentId, email, publicAccess)
        return key?.role === undefined ? permission : withinKey(permission, key.role)
      }
      return found instanceof Promise ? found.then(judge) : judge(found)
    },

    /** Whether a user has an entry on the agent, or needs none. */
    async hasRole(agentId: string, { caller: { user, key } }: Asked): Promise<boolean> {
      const email = user?.email ?? key?.creator
      if (email === undefined || unstorable(agentId) !== undefined) return false
      if (key?.agents?.includes(agentId) === false) return false
      if (user?.isDeveloper && agentId === defaultAgentId) return true
      return ((await rolesOf(agentId, email, key))?.role ?? null) !== null
    },

    /** To be called when an agent was removed, and with it the roles on it. */
    forgetRoles() {
      roles.forget()
      needs.forgetMore()
    },

    /** The agents on which the user has an entry, with role and permission; without a user the public one. */
    async listOwnAgents({ caller: { user, key }, publicAccess }: Asked, parameters: ListParameters) {
      const email = user?.email ?? key?.creator
      const isPublic = email === undefined
      const { rows, meta } = isPublic
        ? await repository.listPublicAgents(defaultAgentId, publicRoles[publicAccess], parameters)
        : await repository.listOwnAgents(email, key?.agents, parameters)
      const withPower = rows.map(row => ({
        ...row,
        power: isPublic ? publicPermissions[publicAccess] : powerOf(row, key?.role, publicAccess),
      }))
      return { rows: withPower, meta }
    },

    hasRoles: repository.hasRoles,
    isKnown: repository.isKnown,
    isOwner: async (agentId: string, email: string) => (await roles.find(agentId, email))?.role === 'owner',

    giveRoles: giving(needs, roles.forget),

    listAdmins: (agentId: string, parameters: ListParameters) => repository.listAdmins(agentId, parameters),

    /** With a hint for the caller where the person may not know how to come in. */
    async addAdmin(agentId: string, admin: NewAdmin): Promise<AdminEntry & { hint?: string }> {
      const isKnown = needs.hasGateway || (await repository.isKnown(inOneCase(admin.email)))
      const entry = { ...newEntry(needs), email: inOneCase(admin.email), role: admin.role }
      describeChange({ email: entry.email, role: { from: null, to: entry.role } })
      const isAdded = await repository.insertAdmin(agentId, entry).finally(roles.forget)
      if (!isAdded) throw conflict(`${entry.email} already has a role on this agent. Remove it first.`)
      return isKnown ? entry : { ...entry, hint: inviteHint }
    },

    ...budgeting(needs),

    async removeAdmin(agentId: string, adminId: string): Promise<void> {
      const isRemoved = await repository.deleteAdmin(agentId, adminId).finally(roles.forget)
      if (!isRemoved && (await repository.findAdmin(agentId, adminId)) === undefined)
        throw notFound('Admin entry')
      if (!isRemoved) throw conflict('The last owner of an agent cannot be removed. Add another owner first.')
      needs.roleTakenAway(agentId)
    },
  }
}

/** Returns what a person may do by an entry; null for a key with which they may do nothing. */
function powerOf(entry: { id: string; role: string }, most: Role | undefined, publicAccess: PublicAccess) {
  const role = entry.role as Role
  const permission = permissionBy(role, entry.id, publicAccess) ?? role
  const power = most === undefined ? permission : (lesser(permission, most) ?? null)
  return power === 'member' ? 'chatter' : power
}

/** @param email of the user, or of the creator of an agent's key */
function permissionOfPerson(
  found: KnownRole | undefined,
  agentId: string,
  email: string,
  publicAccess: PublicAccess,
): Permission {
  if (found === undefined) throw notFound('Agent')
  const permission = permissionBy(found.role, agentId, publicAccess)
  if (permission !== undefined) return permission
  throw new AccessDenied(`Access denied: ${email} has no role on this agent. Ask one of its owners for one.`)
}

/** Returns the permission by a role; on `default` it is never less than that of callers without a user. */
function permissionBy(role: Role | null, agentId: string, publicAccess: PublicAccess) {
  if (agentId !== defaultAgentId) return role ?? undefined
  const open = publicPermissions[publicAccess]
  return role === null ? open : greater(role, open)
}

function withinKey(permission: Permission, role: Role): Permission {
  const both = lesser(permission, role)
  if (both !== undefined) return both
  throw new AccessDenied('Access denied: this API key may only chat, and its creator may only read here.')
}

function newEntry({ clock, ids }: Dependencies) {
  return { id: ids.record(), created_at: timestamp(clock) }
}

/** Gives roles that a person was invited to; with `byGroups`, those of their groups instead of the former ones of their groups. */
function giving(needs: Dependencies, forget: () => void) {
  return async (email: string, given: GivenRoles, byGroups = false): Promise<void> => {
    const gift = { email, given, byGroups, newEntry: () => newEntry(needs) }
    for (const { agent_id, isLastOwner } of await needs.repository.giveRoles(gift).finally(forget))
      if (isLastOwner)
        needs.log.warn(
          { agentId: agent_id, email },
          'the last owner of an agent stays, although no group of theirs owns it',
        )
      else needs.roleTakenAway(agent_id)
  }
}

/** What people may spend on an agent. */
function budgeting({ repository }: Dependencies) {
  return {
    findAdmin: async (agentId: string, adminId: string) =>
      required(await repository.findAdmin(agentId, adminId), 'Admin entry'),

    async updateAdmin(agentId: string, adminId: string, given: AdminChanges): Promise<AdminEntry> {
      // An entry may be sent back as it was read.
      const { monthly_tokens, monthly_usd } = given
      const changes = {
        ...(monthly_tokens !== undefined && { monthly_tokens }),
        ...(monthly_usd !== undefined && { monthly_usd }),
      }
      if (Object.keys(changes).length === 0)
        return required(await repository.findAdmin(agentId, adminId), 'Admin entry')
      describeChange(changes)
      return required(await repository.updateAdmin(agentId, adminId, changes), 'Admin entry')
    },
  }
}

export type AccessService = ReturnType<typeof createAccessService>
