import { acceptArguments } from '#models/tools/accept-arguments.ts'
import type { Tool } from '#models/tools/tool.ts'
import { anyTurn, type ToolTurn } from '#models/tools/tool-turn.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError, conflict, required } from '#platform/errors.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { Log } from '#platform/logging/log.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentDatabase } from '#storage/tables.ts'
import type { Approval, ApprovalListQuery } from '../approvals.schema.ts'
import type { ChatEvents } from '../chat.events.ts'
import type { ConversationLock } from '../conversations/conversation-lock.ts'
import type { Reach } from '../reach.ts'
import {
  findApproval,
  listApprovals,
  moveApproval,
  type StoredApproval,
} from '../rows/approvals.repository.ts'
import type { Lock } from '../rows/conversation-lock.repository.ts'
import { findMessage, putMessage, readWindow } from '../rows/messages.repository.ts'
import { findTurn } from '../rows/turns.repository.ts'
import { type CallOutcome, performCall } from '../turn/perform-call.ts'
import { changed } from '../turn/refusals.ts'
import { keptAfter, resultSize } from '../turn/truncate-result.ts'
import type { ToolResult } from '../turn/turn.ts'
import type { WaitingTurns } from '../waiting/waiting.service.ts'

interface Dependencies {
  waiting: Pick<WaitingTurns, 'decide'>
  transact: Transact<ChatEvents>
  lock: ConversationLock
  toolsFor(agent: AgentHandle, turn?: ToolTurn): Promise<readonly Tool[]>
  statusOf(agentId: string): Promise<string>
  clock: Clock
  log: Log
}

interface Taken {
  approval: StoredApproval
  held: Lock
  /** Max characters of the call's result in the stored answer. */
  kept: number
}

/** A turn that has waited with the call, and makes it or receives the refusal. */
interface Resumed {
  resumed: string
  name: string
}

interface Decider {
  /** A caller that reaches only own conversations decides where the tool permits it. */
  reach: Reach
  tools: readonly Tool[]
  /** Further changes in the decision's transaction. */
  also?: (transaction: AgentDatabase) => Promise<void>
}

/** Manages calls that a model wanted to make after it had read text of outsiders: a person decides on each, once. */
export function createApprovalsService(needs: Dependencies) {
  const { waiting, transact, lock, clock, log } = needs
  /** Records the decision. The conversation stays locked from here on, so that no turn reads the answer while it changes. */
  function take(agent: AgentHandle, toolCallId: string, isApproved: boolean, decider: Decider) {
    return transact(agent, async (transaction, outbox): Promise<Taken | Resumed> => {
      const approval = await requireFor(decider, transaction, toolCallId)
      await decider.also?.(transaction)
      const to = isApproved ? 'approved' : 'denied'
      const move = { from: 'pending', to, decidedAt: timestamp(clock) } as const
      const resumed = await resume(waiting, { transaction, outbox }, approval, move)
      if (resumed !== undefined) return resumed
      if (approval.status !== 'pending') throw alreadyDecided(approval)
      const held = await lock.acquire(transaction, approval.conversationId)
      if (!(await moveApproval(transaction, toolCallId, move))) throw alreadyDecided(approval)
      return { approval, held, kept: await keptOf(transaction, approval) }
    })
  }

  /** Runs the call while it renews the conversation's lock. */
  async function runLocked(agent: AgentHandle, { approval, held, kept }: Taken, tools: readonly Tool[]) {
    const lost = new AbortController()
    let renewing: Promise<void> = Promise.resolve()
    const timer = setInterval(() => {
      renewing = renewing
        .then(async () => {
          if (!(await lock.renew(agent.db, held))) lost.abort()
        })
        .catch(error => log.error({ err: error }, 'renewing the lock of an approved call failed'))
    }, lock.renewalMs)
    try {
      const signal = AbortSignal.any([lost.signal, agent.signal])
      return await run(approval, tools, signal, kept)
    } finally {
      clearInterval(timer)
      await renewing
    }
  }

  function settle({ db }: AgentHandle, { approval, held }: Taken, result: ToolResult) {
    return inTransaction(db, async transaction => {
      if (!(await lock.release(transaction, held))) throw conversationWasTaken()
      const { toolCallId } = approval
      const move = { from: 'approved', to: 'done', decidedAt: timestamp(clock) } as const
      await moveApproval(transaction, toolCallId, move)
      const message = await findMessage(transaction, approval.messageId)
      if (message === undefined) return
      const toolResults = message.toolResults?.map(known =>
        known.toolCallId === toolCallId ? result : known,
      )
      await putMessage(transaction, { ...message, toolResults: toolResults ?? null })
    })
  }

  return {
    list: ({ db }: AgentHandle, query: ApprovalListQuery, reach: Reach) => listApprovals(db, query, reach),

    /**
     * Makes the call, or refuses it finally; the result replaces the error in the stored answer. A call is made at most
     * once, even if the server dies meanwhile.
     */
    async decide(
      agent: AgentHandle,
      toolCallId: string,
      isApproved: boolean,
      decider: Omit<Decider, 'tools'>,
    ): Promise<ToolResult & { turn?: { id: string; status: 'running' } }> {
      const tools = isApproved || decider.reach !== 'all' ? await toolsOf(needs, agent, toolCallId) : []
      const taken = await take(agent, toolCallId, isApproved, { ...decider, tools })
      if ('resumed' in taken)
        return { toolCallId, name: taken.name, turn: { id: taken.resumed, status: 'running' } }
      const outcome = isApproved
        ? await runLocked(agent, taken, tools)
        : { error: 'A person has refused this call.' }
      const result = { toolCallId, name: taken.approval.name, ...outcome }
      await settle(agent, taken, result)
      return result
    },
  }
}

export type ApprovalsService = ReturnType<typeof createApprovalsService>

/** Loads the tools that a call can need before the decision is stored: if this fails, the call keeps waiting. */
async function toolsOf(
  { toolsFor, statusOf }: Pick<Dependencies, 'toolsFor' | 'statusOf'>,
  agent: AgentHandle,
  toolCallId: string,
): Promise<readonly Tool[]> {
  const status = await statusOf(agent.agentId)
  if (status !== 'active')
    throw conflict(`This agent is ${status} and makes no calls. Set its status to active first.`)
  return toolsFor(agent, await turnOf(agent.db, toolCallId))
}

/** Returns the turn of the call, whose browser the tools use. */
async function turnOf(database: AgentDatabase, toolCallId: string): Promise<ToolTurn | undefined> {
  const approval = await findApproval(database, toolCallId, 'all')
  const answer = approval && (await findMessage(database, approval.messageId))
  if (answer === undefined) return undefined
  const { conversationId, sequence } = answer
  const [question] = await readWindow(database, { conversationId, before: sequence, end: 'newest', limit: 1 })
  return {
    ...anyTurn,
    conversationId,
    isOutsider: question === undefined || question.metadata?.tainted === true,
  }
}

async function keptOf(database: AgentDatabase, { messageId }: StoredApproval): Promise<number> {
  const sizes = (await findMessage(database, messageId))?.toolResults?.map(resultSize) ?? []
  return keptAfter(sizes.reduce((sum, size) => sum + size, 0))
}

/** Throws NOT_FOUND, and FORBIDDEN for a caller who may not decide. */
async function requireFor({ reach, tools }: Decider, transaction: AgentDatabase, toolCallId: string) {
  const approval = required(await findApproval(transaction, toolCallId, reach), 'Approval')
  const tool = tools.find(({ name }) => name === approval.name)
  if (reach !== 'all' && tool?.approvers !== 'chat') throw forAdmins()
  return approval
}

/** Resumes the turn that waits with the call; undefined if none does. */
async function resume(
  waiting: Pick<WaitingTurns, 'decide'>,
  change: Parameters<WaitingTurns['decide']>[0],
  approval: StoredApproval,
  move: Parameters<typeof moveApproval>[2],
): Promise<Resumed | undefined> {
  const row = await findTurn(change.transaction, approval.messageId)
  if (row?.status !== 'waiting') return undefined
  const isFirst = await moveApproval(change.transaction, approval.toolCallId, move)
  if (!isFirst || !(await waiting.decide(change, row, move.to === 'approved'))) throw alreadyDecided(approval)
  return { resumed: row.id, name: approval.name }
}

/** Runs the call as the person approved it; a tool that has changed meanwhile is not run. */
async function run(
  { name, arguments: given, toolVersion, messageId }: StoredApproval,
  tools: readonly Tool[],
  signal: AbortSignal,
  kept: number,
): Promise<CallOutcome> {
  const tool = tools.find(candidate => candidate.name === name)
  if (tool === undefined) return { error: `There is no tool named ${name} any more.` }
  if ((tool.version?.() ?? '') !== toolVersion) return { error: changed(name) }
  const accepted = await acceptArguments(tool, given)
  if (accepted.problem !== undefined) return { error: accepted.problem }
  return performCall(tool, accepted, signal, kept, { messageId })
}

function forAdmins(): AppError {
  return new AppError('FORBIDDEN', 'Only admins and owners of this agent decide on calls of this tool.')
}

function alreadyDecided({ status }: Approval): AppError {
  if (status === 'approved')
    return conflict(
      'This call was approved before, and is running, or ended with the server before its result was stored. It is ' +
        'not made a second time: ask the agent again if it did not happen.',
    )
  return conflict(
    status === 'denied'
      ? 'This call was refused before.'
      : 'The decision on this call is over: its message says how it ended.',
  )
}

function conversationWasTaken(): AppError {
  return conflict(
    'The call was made, but another request has taken its conversation over meanwhile, so that its result is not stored.',
  )
}
