import type { Caller, Proof } from '#features/access/access.feature.ts'
import { type AccessService, defaultAgentId } from '#features/access/access.service.ts'
import { type PeopleService, proofOf } from '#features/access/people.service.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { timestamp } from '#platform/clock.ts'
import { isNamed } from '#platform/email-address.ts'
import { hashOf, makeLink, type SignInLinks } from './links.ts'
import { type Account, SignInRefused } from './oidc.ts'
import type { InvitedTo, SignInRepository } from './sign-in.repository.ts'

/** A person who may sign in; without a proof of the address, only to the agents of an invitation. */
export interface Admission {
  email: string
  provedBy: Proof | null
  invitedTo?: InvitedTo
}

interface Dependencies extends Pick<Infrastructure, 'configuration' | 'clock'> {
  repository: SignInRepository
  links: SignInLinks
  access: Pick<AccessService, 'giveRoles' | 'hasRoles' | 'isKnown' | 'isOwner'>
  people: Pick<PeopleService, 'noteInvited'>
  /** The roles of the provider's groups. */
  groupRoles: readonly (InvitedTo[number] & { group: string })[]
}

/** Decides who may sign in, and with which roles. */
export function createSignInService(needs: Dependencies) {
  const { configuration, clock, repository, links, access, groupRoles } = needs
  const { gateway, oidc, devUser, ownerEmail, signInAllow } = configuration
  const accept = createAccepting(needs)

  return {
    /** Returns a link for the first person of an empty service, if nothing else identifies people; `address` is the service's. */
    async firstLink(address: string): Promise<string | undefined> {
      const isOpen = gateway === undefined && oidc === undefined && devUser === undefined
      return isOpen && (await repository.isEmpty())
        ? await makeLink(links, clock, address, ownerEmail)
        : undefined
    },

    /**
     * Redeems a link once and returns its address. Calls `found` with the address before changing anything; `caller` opens the
     * link. @throws SignInRefused
     */
    async redeem(token: string, caller: Caller, found: (email: string) => void): Promise<Admission> {
      const link = await links.redeem(hashOf(token))
      if (link === undefined) return await accept.byToken(token, caller, found)
      const { email } = link
      found(email)
      // The operator vouches for the person: the next account with the address becomes theirs.
      await repository.forgetIdentity(email)
      if (email === ownerEmail) await access.giveRoles(email, [{ id: defaultAgentId, role: 'owner' }])
      return { email, provedBy: 'operator' }
    },

    /** Signs in a person of the identity provider, with the roles of their groups and invitations. @throws SignInRefused */
    async admit(account: Account): Promise<void> {
      const { issuer, subject, email, groups } = account
      const isNew = await requireOwnAddress(repository, account)
      const given = groupRoles.filter(({ group }) => groups.includes(group))
      if (oidc?.groupsClaim !== undefined) await access.giveRoles(email, given, true)
      await accept.all(email)
      if (!isNamed(signInAllow, email) && !(await access.hasRoles(email)))
        throw new SignInRefused(
          'not_admitted',
          `${email} has no role here. Ask an owner of an agent for an invitation.`,
          'SIGN_IN_ALLOW admits others',
        )
      const identity = { issuer, subject, email, created_at: timestamp(clock) }
      if (isNew && (await repository.bindIdentity(identity)) === undefined) throw addressOfAnother(email)
    },
  }
}

export type SignInService = ReturnType<typeof createSignInService>

/** Returns true for a new account. Others must be bound to the address, because its later holder would get its roles. */
async function requireOwnAddress(
  repository: SignInRepository,
  { issuer, subject, email }: Account,
): Promise<boolean> {
  const known = await repository.findIdentities(issuer, subject, email)
  const own = known.find(identity => identity.subject === subject)
  if (own === undefined && known.length > 0) throw addressOfAnother(email)
  if (own !== undefined && own.email !== email)
    throw new SignInRefused(
      'address_changed',
      `Your address has changed from ${own.email} to ${email}. Open a sign-in link of the operator for ${own.email}, then sign in again.`,
    )
  return own === undefined
}

function addressOfAnother(email: string): SignInRefused {
  const way = `Open a sign-in link of the operator for it, then sign in again.`
  return new SignInRefused(
    'address_of_another',
    `${email} belongs to another account of the identity provider. ${way}`,
  )
}

/** Accepts invitations: adds their roles on agents whose owner is still the inviter. */
function createAccepting({ configuration, clock, repository, access, people }: Dependencies) {
  async function take(email: string, id?: string): Promise<InvitedTo> {
    const given: InvitedTo[number][] = []
    let inviter: string | undefined
    for (const { agents, invited_by } of await repository.takeInvitations(email, timestamp(clock), id))
      for (const agent of JSON.parse(agents))
        if (await access.isOwner(agent.id, invited_by)) {
          given.push(agent)
          inviter = invited_by
        }
    if (inviter === undefined) return []
    await access.giveRoles(email, given)
    await people.noteInvited(email, inviter)
    return given
  }

  return {
    all: (email: string) => take(email),

    /** Accepts a token. Unless it was mailed, it proves no address and only opens its agents, if the address is unused. */
    async byToken(token: string, caller: Caller, known: (email: string) => void): Promise<Admission> {
      const found = await repository.findInvitation(hashOf(token), timestamp(clock))
      if (found === undefined)
        throw new SignInRefused(
          'link',
          'This link was used already, has expired, or was withdrawn. Ask for another one.',
        )
      const { id, email, is_mailed } = found
      const isOwn = caller.user?.email === email
      const hasProvider = configuration.oidc !== undefined || configuration.gateway !== undefined
      const isOfAnother = () => email === configuration.ownerEmail || access.isKnown(email)
      if (!isOwn && (hasProvider || (is_mailed === 0 && (await isOfAnother()))))
        throw new SignInRefused(
          'address',
          `This invitation is for ${email}: sign in as that person, then open it again, or ask the operator for a link (npm run sign-in).`,
        )
      known(email)
      const invitedTo = await take(email, id)
      const provedBy = is_mailed === 1 ? 'mail' : isOwn ? proofOf(caller) : null
      if (invitedTo.length > 0)
        return provedBy === null ? { email, provedBy, invitedTo } : { email, provedBy }
      throw new SignInRefused('withdrawn', 'This invitation gives no role any more. Ask for another one.')
    },
  }
}
