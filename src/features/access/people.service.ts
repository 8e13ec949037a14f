import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { describeChange } from '#platform/current-change.ts'
import { isNamed } from '#platform/email-address.ts'
import { AccessDenied } from '#platform/errors.ts'
import type { Caller, Proof } from './caller.ts'
import type { GivenRoles } from './given-roles.ts'
import { createPeopleRepository, signOut } from './people.repository.ts'
import { makerRefusal, roles } from './policy.ts'

interface Dependencies extends Pick<Infrastructure, 'platform' | 'configuration' | 'clock'> {
  /** Called when keys were revoked, before that is reported. */
  forgetKeys(): void
  /** Called when sessions or keys have ended. */
  ended(): void
}

/** Manages people by address: its proof, who makes agents, and the end of all sessions and keys of a person. */
export function createPeople({ platform, configuration, clock, forgetKeys, ended }: Dependencies) {
  const { agentsBy, gateway, devUser, ownerEmail } = configuration
  const repository = createPeopleRepository(platform)

  /** Returns whether a person with a proved sign-in, or their key, may make agents. */
  async function mayMake(email: string, isKey: boolean): Promise<boolean> {
    if (agentsBy === 'anyone') return true
    const { proved_by = null, first_proved_by } = (await repository.find(email)) ?? {}
    const isOfOperator = [devUser, ownerEmail].includes(email)
    if (isKey && gateway === undefined && !isOfOperator && proved_by === null) return false
    if (agentsBy === 'proved') return true
    if (agentsBy !== 'owners') return isNamed(agentsBy, email)
    if (isOfOperator || proved_by === 'operator' || first_proved_by === 'operator') return true
    const held = await repository.rolesOf(email)
    return held.some(({ role, by_groups }) => role === 'owner' || by_groups === 1)
  }

  const people = {
    isProved: async (email: string) => ((await repository.find(email))?.proved_by ?? null) !== null,
    noteInvited: repository.noteInvited,
    /** Called when sessions have ended: ends their running requests. */
    sessionsEnded: ended,

    async noteProof(email: string, proof: Proof): Promise<void> {
      if (await repository.noteProof(email, proof, timestamp(clock))) ended()
    },

    /** Ends all sessions and personal keys of the address, whose roles stay. */
    async signOut(email: string): Promise<void> {
      await signOutPerson(platform, email, clock).finally(forgetKeys)
      ended()
    },

    /** Signs a person out for an owner of all of the person's agents. @throws AccessDenied */
    async signOutBy({ user }: Caller, email: string): Promise<void> {
      const held = await repository.rolesOf(email, user?.email ?? '')
      const owned = held.filter(one => one.email === user?.email && one.role === 'owner')
      const isOwned = (agentId: string) => owned.some(({ agent_id }) => agent_id === agentId)
      if (!held.every(one => one.email !== email || isOwned(one.agent_id)))
        throw new AccessDenied(
          'Access denied: only an owner of all agents on which this person has a role ends their sessions and keys. ' +
            'Remove their role on this agent, or ask the operator, who can (npm run sign-in -- --revoke).',
        )
      describeChange({ email, signed_out: true })
      await people.signOut(email)
    },

    /** Throws AccessDenied for callers who may make no agents, by AGENTS_BY. */
    async requireMaker({ user, key, session }: Caller): Promise<void> {
      const isBounded = (key?.role ?? key?.agents ?? session?.invitedTo) !== undefined
      if (user === undefined || isBounded || !(await mayMake(user.email, key !== undefined)))
        throw new AccessDenied(makerRefusal(agentsBy))
    },
  }
  return people
}

export type PeopleService = ReturnType<typeof createPeople>

/** Returns the proof of the address of a caller who uses no key. */
export function proofOf({ via, session }: Caller): Proof | null {
  if (via === 'gateway') return 'gateway'
  return via === 'developer' ? 'dev_user' : (session?.provedBy ?? null)
}

/** Returns the added roles, each replaced by the former one on its agent where that is higher. */
export function higherRoles(former: GivenRoles = [], added: GivenRoles = []): GivenRoles {
  return added.map(({ id, role }) => {
    const held = former.find(one => one.id === id)?.role
    return { id, role: roles.find(one => one === held || one === role) ?? role }
  })
}

/** Ends all sessions and personal keys of an address for the operator: processes that cache keys must be notified. */
export function signOutPerson(
  platform: Infrastructure['platform'],
  email: string,
  clock: Clock,
): Promise<unknown> {
  return signOut(platform, email, timestamp(clock))
}
