import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { AccessDenied, conflict, notFound } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/list-query.ts'
import type { Ids } from '#platform/ids.ts'
import type { AccessRepository } from './access.repository.ts'
import type { AdminEntry, NewAdmin } from './access.schema.ts'
import type { User } from './gateway.ts'
import type { Power, PublicAccess } from './policy.ts'
import { publicPowers, publicRoles } from './policy.ts'

/** The agent that exists from the first start and that needs no user. */
export const defaultAgentId = 'default'

interface Needs {
  repository: AccessRepository
  publicAccess: PublicAccess
  clock: Clock
  ids: Ids
}

export function createAccessService({ repository, publicAccess, clock, ids }: Needs) {
  return {
    /**
     * What somebody may do on an agent. Nobody learns from the answer which agents exist:
     * without a user a missing agent is refused like a closed one; a user gets NOT_FOUND.
     */
    async powerOn(agentId: string, user: User | undefined): Promise<Power> {
      if (user === undefined) {
        if (agentId === defaultAgentId) return publicPowers[publicAccess]
        throw new AccessDenied('Access denied: only the agent "default" is open to callers without a user.')
      }
      const found = await repository.findRole(agentId, user.email)
      if (found === undefined) throw notFound('Agent')
      if (found.role !== null) return found.role
      if (agentId === defaultAgentId) return publicPowers[publicAccess]
      throw new AccessDenied(
        `Access denied: ${user.email} has no role on this agent. Ask one of its owners for one.`,
      )
    },

    /** The agents on which the user has an entry, with the role; without a user the public one. */
    listOwnAgents(user: User | undefined, parameters: ListParameters) {
      if (user !== undefined) return repository.listOwnAgents(user.email, parameters)
      return repository.listPublicAgents(defaultAgentId, publicRoles[publicAccess], parameters)
    },

    listAdmins: (agentId: string, parameters: ListParameters) => repository.listAdmins(agentId, parameters),

    async addAdmin(agentId: string, admin: NewAdmin): Promise<AdminEntry> {
      const entry = {
        id: ids.record(),
        email: admin.email.toLowerCase(),
        role: admin.role,
        created_at: timestamp(clock),
      }
      if (!(await repository.insertAdmin(agentId, entry)))
        throw conflict(`${entry.email} already has a role on this agent. Remove it first.`)
      return entry
    },

    async removeAdmin(agentId: string, adminId: string): Promise<void> {
      if ((await repository.findAdmin(agentId, adminId)) === undefined) throw notFound('Admin entry')
      if (!(await repository.deleteAdmin(agentId, adminId)))
        throw conflict('The last owner of an agent cannot be removed. Make somebody else its owner first.')
    },
  }
}

export type AccessService = ReturnType<typeof createAccessService>
