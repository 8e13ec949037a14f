import type { SettingsService } from '#features/agents/settings.service.ts'
import type { AuditFeature } from '#features/audit/audit.feature.ts'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { ContactsService } from '#features/contacts/contacts.service.ts'
import type { WorkflowsFeature } from '#features/workflows/workflows.feature.ts'
import { type Actor, currentActor, labelOf } from '#platform/actor.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError, conflict } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentDatabase } from '#storage/tables.ts'
import { minute } from './notice-text.ts'
import type { NoticeTokens } from './notice-tokens.ts'
import { changeNotice, findNotice, type Notice } from './notices.repository.ts'
import { chosenIn } from './reach.ts'
import type { Subject } from './send-notice.job.ts'

interface Dependencies
  extends Pick<AuditFeature, 'recordWork'>,
    Pick<ChatFeature, 'approvals'>,
    Pick<WorkflowsFeature, 'executions'> {
  settings: Pick<SettingsService, 'profileOf'>
  contacts: Pick<ContactsService, 'find'>
  tokens: NoticeTokens
  clock: Clock
}

/** The decision that a button or link offers. */
export interface Offered {
  notice: Notice
  isApproved: boolean
}

/** Further changes in the decision's transaction. */
type Also = (transaction: AgentDatabase) => Promise<void>

/** The person who decides, if it is not the contact. */
interface Decider {
  actor?: Actor | undefined
  /** IP address. */
  address?: string
}

export interface Decided {
  /** The outcome, or why nothing was done, as text. */
  words: string
  isDone: boolean
  /** True if the notice allows no more decisions. */
  isOver: boolean
}

/** Applies the decisions of buttons and links in notices, each at most once. */
export function createDecisions(needs: Dependencies) {
  const { recordWork, approvals, executions, settings, contacts, tokens, clock } = needs

  /** Returns why the notice allows no more decisions. */
  function endOf({ outcome, expires_at }: Notice): string | undefined {
    if (outcome !== null) return `This was decided before: ${outcome}`
    if (expires_at > timestamp(clock)) return undefined
    return `The time to decide was over at ${minute(expires_at)}. Nothing was done.`
  }

  async function contactOf(agent: AgentHandle, { channel, contact_id }: Notice) {
    const { notify } = (await settings.profileOf(agent.agentId)).settings
    const chosen = notify && chosenIn(notify)
    if (chosen?.channel !== channel || chosen.contactId !== contact_id)
      throw conflict('The agent no longer sends its notices here, so nothing can be decided by this one.')
    return await contacts.find(agent.db, contact_id)
  }

  async function make(
    agent: AgentHandle,
    subject: Subject,
    isApproved: boolean,
    { also, ...decider }: { actor: Actor; address: string | null; also: Also },
  ) {
    const { actor } = decider
    if ('tool_call_id' in subject) {
      const { tool_call_id: object } = subject
      const decide = () => approvals.decide(agent, object, isApproved, { reach: 'all', also })
      return await recordWork(agent, { ...decider, operation: 'decideApproval', object }, decide)
    }
    const { execution_id: executionId, node_id: nodeId, path } = subject
    const node = { executionId, nodeId, approved: isApproved, by: labelOf(actor) ?? '', also }
    const resume = () => executions.resume(agent, { ...node, ...(path !== undefined && { path }) })
    await recordWork(agent, { ...decider, operation: 'resumeNode', object: executionId }, resume)
  }

  return {
    /** Returns undefined for a token that is not ours. */
    async read(agent: AgentHandle, token: string): Promise<Offered | undefined> {
      const decision = tokens.read(agent.agentId, token)
      const notice = decision && (await findNotice(agent.db, decision.id))
      return notice && { notice, isApproved: decision?.isApproved ?? false }
    },

    endOf,
    contactOf,

    async decide(agent: AgentHandle, { notice, isApproved }: Offered, decider: Decider): Promise<Decided> {
      const end = endOf(notice)
      if (end !== undefined) return { words: end, isDone: false, isOver: true }
      try {
        const { id, name } = await contactOf(agent, notice)
        const { actor = { kind: 'contact', id, name }, address = null } = decider
        const subject = JSON.parse(notice.subject ?? '') as Subject
        const outcome = `${isApproved ? 'Approved' : 'Refused'} by ${actor.name ?? actor.id} at ${minute(timestamp(clock))}.`
        const also: Also = transaction => changeNotice(transaction, notice.id, { outcome })
        await currentActor.run(actor, () => make(agent, subject, isApproved, { actor, address, also }))
        return { words: outcome, isDone: true, isOver: true }
      } catch (error) {
        if (!(error instanceof AppError && error.fault === 'user')) throw error
        const said = error.message.replace(/\.?$/, '.')
        const { outcome = null } = (await findNotice(agent.db, notice.id)) ?? {}
        // A simultaneous press decided, or this one did before its result could be stored.
        if (outcome !== null) return { words: `${outcome} ${said}`, isDone: false, isOver: true }
        return { words: `${said} Nothing was done.`, isDone: false, isOver: false }
      }
    },
  }
}

export type Decisions = ReturnType<typeof createDecisions>
