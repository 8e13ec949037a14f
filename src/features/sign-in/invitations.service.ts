import type { FastifyRequest } from 'fastify'
import type { AccessService } from '#features/access/access.service.ts'
import type { ChannelsService } from '#features/channels/channels.service.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { timestamp } from '#platform/clock.ts'
import { describeChange } from '#platform/current-change.ts'
import { inOneCase } from '#platform/email-address.ts'
import { AccessDenied, AppError, notFound } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import type { SharedCounts } from '#platform/http/rate-limits/shared-counts.ts'
import { hashOf, newToken } from './links.ts'
import type { SignInRepository } from './sign-in.repository.ts'
import type { NewInvitation } from './sign-in.schema.ts'

const validMs = 7 * 24 * 60 * 60_000
const mailTimeoutMs = 15_000
/** Max mails to an address per day, by all inviters together. */
const maxMails = 5
const dayMs = 24 * 60 * 60_000

interface Dependencies extends Pick<Infrastructure, 'clock' | 'ids' | 'log'> {
  repository: SignInRepository
  access: Pick<AccessService, 'permissionOn'>
  mails: SharedCounts
  /** Undefined if the operator has no mail server. */
  sendMail: ChannelsService['sendPlatformMail']
}

export function createInvitations({ repository, access, mails, sendMail, clock, ids, log }: Dependencies) {
  /** @throws AppError RATE_LIMITED */
  async function requireMail(email: string): Promise<void> {
    if (sendMail === undefined) return
    const sent = { key: `invitation mails ${email}`, points: 1, expiresAt: clock.now() + dayMs }
    const [count] = await mails.add([sent])
    if (count === undefined || count.points <= maxMails) return
    const retry_after = Math.ceil((count.expiresAt - clock.now()) / 1000)
    throw new AppError(
      'RATE_LIMITED',
      `${email} has been sent ${maxMails} invitations in a day, which is the most. Invite this address again later; links that were sent still work.`,
      { details: { retry_after } },
    )
  }

  /** Returns whether the mail was sent. The invitation remains if the mail server fails. */
  async function mail(email: string, inviter: string, url: string): Promise<boolean> {
    const subject = 'You are invited to agentstead'
    const body = `${inviter} invites you to work with agents. Open this link within seven days; it works once.\n\n${url}\n`
    const delivery = { key: ids.record(), signal: AbortSignal.timeout(mailTimeoutMs) }
    try {
      return (await sendMail?.({ to: [{ single: email }], subject, body }, delivery)) !== undefined
    } catch (error) {
      log.warn({ err: error }, 'an invitation was not sent by mail')
      return false
    }
  }

  return {
    /** Returns `url`, the link, if no mail was sent to the person. */
    async create(
      request: FastifyRequest,
      inviter: string,
      address: string,
      { email: given, agents }: NewInvitation,
    ) {
      const [token, email] = [newToken(), inOneCase(given)]
      for (const { id, role } of agents) {
        describeChange({ email, role }, id)
        if ((await access.permissionOn(id, request)) !== 'owner')
          throw new AccessDenied('Access denied: only the owners of an agent invite people to it.')
      }
      await requireMail(email)
      const times = {
        created_at: timestamp(clock),
        expires_at: new Date(clock.now() + validMs).toISOString(),
      }
      const invitation = { id: ids.record(), email, invited_by: inviter, ...times }
      const stored = {
        ...invitation,
        agents: JSON.stringify(agents),
        token_hash: hashOf(token),
        is_mailed: 0,
      }
      await repository.insertInvitation(stored)
      const url = `${address}/sign-in#invitation=${token}`
      const sent = await mail(email, inviter, url)
      if (sent) await repository.markMailed(invitation.id)
      return { ...invitation, agents, sent, url: sent ? null : url }
    },

    async list(inviter: string, query: ListParameters) {
      const { rows, meta } = await repository.listInvitations(inviter, timestamp(clock), query)
      return { rows: rows.map(row => ({ ...row, agents: JSON.parse(row.agents) })), meta }
    },

    async withdraw(inviter: string, id: string): Promise<void> {
      if (!(await repository.withdrawInvitation(inviter, timestamp(clock), id))) throw notFound('Invitation')
    },
  }
}

export type Invitations = ReturnType<typeof createInvitations>
