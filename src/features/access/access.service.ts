import { type Clock, timestamp } from '#platform/clock.ts'
import { describeChange } from '#platform/current-change.ts'
import { inOneCase } from '#platform/email-address.ts'
import { AccessDenied, conflict, invalid, notFound, required } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import { unstorable } from '#platform/http/requests/storable-text.ts'
import type { Ids } from '#platform/ids.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AccessRepository } from './access.repository.ts'
import type { AdminChanges, AdminEntry, NewAdmin } from './access.schema.ts'
import type { Caller } from './caller.ts'
import type { GivenRoles } from './given-roles.ts'
import type { PeopleService } from './people.service.ts'
import {
  greater,
  invitedRefusal,
  lesser,
  type Permission,
  type PublicAccess,
  publicPermissions,
  publicRoles,
  type Role,
} from './policy.ts'
import { type KnownRole, readAnew, remember } from './role-memory.ts'

/** The agent that exists from the first start and that needs no user. */
export const defaultAgentId = 'default'

/** The caller, and its permission where it has no role. */
export interface Asked {
  caller: Caller
  publicAccess: PublicAccess
}

const inviteHint =
  'This address is not proved: its person has not signed in by mail, an identity provider or a link of the operator, and gets the role only so. ' +
  'POST /api/invitations invites them, by mail where the operator has set that up.'

interface Dependencies {
  repository: AccessRepository
  /** True if an identity gateway identifies people. */
  hasGateway: boolean
  devUser?: string | undefined
  people: Pick<PeopleService, 'isProved'>
  /** True if no other process changes roles, so that they can be cached. */
  isExclusive: boolean
  /** Called when everything cached about an agent might be wrong. */
  forgetMore(): void
  /** Called when a role on the agent was removed. */
  roleTakenAway(agentId: string): void
  clock: Clock
  ids: Ids
  log: Log
}

export function createAccessService(needs: Dependencies) {
  const { repository, isExclusive } = needs
  const roles = isExclusive ? remember(repository.findRole) : readAnew(repository.findRole)

  /** Returns the role of the caller's person, limited by the invitations of a session without a proof. */
  function rolesOf(agentId: string, email: string, { key, session }: Caller) {
    const found = key?.creatorOn?.agentId === agentId ? key.creatorOn.known : roles.find(agentId, email)
    const within = (known: KnownRole | undefined) =>
      known && session?.invitedTo ? { role: invitedRole(known.role, agentId, session) } : known
    return found instanceof Promise ? found.then(within) : within(found)
  }

  return {
    /**
     * Returns the permission of a caller on an agent. The result does not show which agents exist:
     * without a user a missing agent is refused like a closed one; a user gets NOT_FOUND.
     */
    permissionOn(agentId: string, asked: Asked): Permission | Promise<Permission> {
      const { publicAccess } = asked
      const { user, key, session } = asked.caller
      const email = user?.email ?? key?.creator
      if (email === undefined) {
        if (agentId === defaultAgentId) return publicPermissions[publicAccess]
        throw new AccessDenied('Access denied: only the agent "default" is open to callers without a user.')
      }
      const issue = unstorable(agentId)
      if (issue !== undefined) throw invalid('id', issue)
      if (key?.agents?.includes(agentId) === false)
        throw new AccessDenied('Access denied: this API key does not reach this agent.')
      const found = rolesOf(agentId, email, asked.caller)
      const judge = (known: KnownRole | undefined) => {
        if (known?.role === null && session?.invitedTo !== undefined && agentId !== defaultAgentId)
          throw new AccessDenied(invitedRefusal)
        const permission = permissionOfPerson(known, agentId, email, publicAccess)
        return key?.role === undefined ? permission : withinKey(permission, key.role)
      }
      return found instanceof Promise ? found.then(judge) : judge(found)
    },

    /** Returns whether a user has an entry on the agent, or needs none. */
    async hasRole(agentId: string, { caller }: Asked): Promise<boolean> {
      const { user, key } = caller
      const email = user?.email ?? key?.creator
      if (email === undefined || unstorable(agentId) !== undefined) return false
      if (key?.agents?.includes(agentId) === false) return false
      if (user?.isDeveloper && agentId === defaultAgentId) return true
      return ((await rolesOf(agentId, email, caller))?.role ?? null) !== null
    },

    /** Called when an agent was removed, and with it the roles on it. */
    forgetRoles() {
      roles.forget()
      needs.forgetMore()
    },

    hasRoles: repository.hasRoles,
    isKnown: repository.isKnown,
    isOwner: async (agentId: string, email: string) => (await roles.find(agentId, email))?.role === 'owner',

    giveRoles: giving(needs, roles.forget),

    ...reading(needs),
    ...changing(needs, roles.forget),
    ...budgeting(needs),
  }
}

/** Limits a role to the invitations of a session: to their agents, and to the invited role at most. */
function invitedRole(role: Role | null, agentId: string, session: Caller['session']): Role | null {
  if (role === null || session?.invitedTo === undefined) return role
  const invited = session.invitedTo.find(({ id }) => id === agentId)
  // A viewer's role and the role `chat` have nothing in common: the invited person can chat at least.
  return invited === undefined ? null : ((lesser(role, invited.role) as Role | undefined) ?? 'chat')
}

/** Returns the agents that a caller reaches by roles; `default` is open to all but limited keys. */
export function reachOf({ user, key, session }: Caller) {
  const invited = session?.invitedTo?.map(({ id }) => id)
  return {
    email: user?.email ?? key?.creator,
    only: key?.agents ?? (invited && [...invited, defaultAgentId]),
  }
}

/** Returns the permission that an entry gives a person; null for a key that allows nothing. */
function powerOf(
  { id, role }: { id: string; role: Role },
  most: Role | undefined,
  publicAccess: PublicAccess,
) {
  const permission = permissionBy(role, id, publicAccess) ?? role
  const power = most === undefined ? permission : (lesser(permission, most) ?? null)
  return power === 'member' ? 'chatter' : power
}

/** @param email the address of the user, or of the creator of an agent's key */
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

/** Gives roles from invitations. With `byGroups`, the roles of the person's groups replace earlier ones from groups. */
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

/** Reads who has a role on which agent, and how addresses were proved. */
function reading({ repository, ...ways }: Dependencies) {
  const withProof = (entry: AdminEntry) => provedEntry(entry, ways)

  return {
    /** Lists the agents on which the user has an entry, with role and permission; without a user the public one. */
    async listOwnAgents({ caller, publicAccess }: Asked, parameters: ListParameters) {
      const { user, key, session } = caller
      const email = user?.email ?? key?.creator
      const only = key?.agents ?? session?.invitedTo?.map(({ id }) => id)
      const isPublic = email === undefined
      const { rows, meta } = isPublic
        ? await repository.listPublicAgents(defaultAgentId, publicRoles[publicAccess], parameters)
        : await repository.listOwnAgents(email, only, parameters)
      const ownPower = ({ id, role }: (typeof rows)[number]) => {
        const reached = invitedRole(role as Role, id, session)
        return reached && powerOf({ id, role: reached }, key?.role, publicAccess)
      }
      const withPower = rows.map(row => ({
        ...row,
        power: isPublic ? publicPermissions[publicAccess] : ownPower(row),
      }))
      return { rows: withPower, meta }
    },

    /** @param isOwner true if the reader is an owner, who also sees the proofs */
    async listAdmins(agentId: string, parameters: ListParameters, isOwner: boolean) {
      const { rows, meta } = await repository.listAdmins(agentId, parameters)
      const shown = ({ proved_by: _, invited_by: __, ...entry }: AdminEntry) => entry
      return { rows: rows.map(isOwner ? withProof : shown), meta }
    },

    /** Finds an entry by its id, or by an address: no id has an @. @throws NOT_FOUND */
    async findAdmin(agentId: string, idOrEmail: string): Promise<AdminEntry> {
      const column = idOrEmail.includes('@') ? 'email' : 'id'
      const value = column === 'email' ? inOneCase(idOrEmail) : idOrEmail
      return withProof(required(await repository.findAdmin(agentId, column, value), 'Admin entry'))
    },
  }
}

type Ways = Pick<Dependencies, 'hasGateway' | 'devUser'>

/** Returns the proof that comes with every request of the address. */
const standingProof = (email: string, { hasGateway, devUser }: Ways) =>
  hasGateway ? 'gateway' : email === devUser ? 'dev_user' : null

const provedEntry = (entry: AdminEntry, ways: Ways): AdminEntry => ({
  ...entry,
  proved_by: entry.proved_by ?? standingProof(entry.email, ways),
})

/** Adds, changes and removes roles. */
function changing(needs: Dependencies, forget: () => void) {
  const { repository } = needs
  return {
    /** Adds a hint for the caller if the person might not know how to sign in. */
    async addAdmin(agentId: string, admin: NewAdmin): Promise<AdminEntry & { hint?: string }> {
      const email = inOneCase(admin.email)
      const isProved = standingProof(email, needs) !== null || (await needs.people.isProved(email))
      const entry = { ...newEntry(needs), email, role: admin.role }
      describeChange({ email: entry.email, role: { from: null, to: entry.role } })
      const isAdded = await repository.insertAdmin(agentId, entry).finally(forget)
      if (!isAdded) throw conflict(`${entry.email} already has a role on this agent. Remove it first.`)
      return isProved ? entry : { ...entry, hint: inviteHint }
    },

    async removeAdmin(agentId: string, adminId: string): Promise<void> {
      const isRemoved = await repository.deleteAdmin(agentId, adminId).finally(forget)
      if (!isRemoved && (await repository.findAdmin(agentId, 'id', adminId)) === undefined)
        throw notFound('Admin entry')
      if (!isRemoved) throw conflict('The last owner of an agent cannot be removed. Add another owner first.')
      needs.roleTakenAway(agentId)
    },
  }
}

/** Reads and changes the budgets of people on an agent. */
function budgeting({ repository, ...ways }: Dependencies) {
  return {
    async updateAdmin(agentId: string, adminId: string, given: AdminChanges): Promise<AdminEntry> {
      // A client can send an entry back as it was read.
      const { monthly_tokens, monthly_usd } = given
      const changes = {
        ...(monthly_tokens !== undefined && { monthly_tokens }),
        ...(monthly_usd !== undefined && { monthly_usd }),
      }
      if (Object.keys(changes).length === 0)
        return provedEntry(required(await repository.findAdmin(agentId, 'id', adminId), 'Admin entry'), ways)
      describeChange(changes)
      return provedEntry(
        required(await repository.updateAdmin(agentId, adminId, changes), 'Admin entry'),
        ways,
      )
    },
  }
}

export type AccessService = ReturnType<typeof createAccessService>
