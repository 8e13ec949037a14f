import { acceptArguments } from '#models/tools/accept-arguments.ts'
import type { Tool } from '#models/tools/tool.ts'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { AppError, conflict, notFound } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { StoredApproval } from './approvals.repository.ts'
import { findApproval, listApprovals, moveApproval } from './approvals.repository.ts'
import type { Approval, ApprovalListQuery } from './approvals.schema.ts'
import type { Lock } from './conversation-lock.repository.ts'
import type { ConversationLock } from './conversation-lock.ts'
import { findMessage, putMessage } from './messages.repository.ts'
import type { Reach } from './reach.ts'
import type { CallOutcome } from './turn/perform-call.ts'
import { performCall } from './turn/perform-call.ts'
import { keptAfter, resultSize } from './turn/truncate-result.ts'
import type { ToolResult } from './turn/turn.ts'

interface Dependencies {
  lock: ConversationLock
  toolsFor(agent: AgentHandle): Promise<readonly Tool[]>
  statusOf(agentId: string): Promise<string>
  clock: Clock
  log: Log
}

interface Taken {
  approval: StoredApproval
  held: Lock
  /** How many characters of the call's result are kept in the stored answer. */
  kept: number
}

interface Decider {
  /** One who reaches only own conversations decides where the tool says so. */
  reach: Reach
  tools: readonly Tool[]
}

/** Calls that a model wanted to make after it had seen text of outsiders: a person decides on each, once. */
export function createApprovalsService({ lock, toolsFor, statusOf, clock, log }: Dependencies) {
  /** The conversation stays locked from here on, so that no turn reads the answer while it changes. */
  function take({ db }: AgentHandle, toolCallId: string, isApproved: boolean, { reach, tools }: Decider) {
    return inTransaction(db, async transaction => {
      const approval = await findApproval(transaction, toolCallId, reach)
      if (approval === undefined) throw notFound('Approval')
      const tool = tools.find(({ name }) => name === approval.name)
      if (reach !== 'all' && tool?.approvers !== 'chat') throw forAdmins()
      const held = await lock.acquire(transaction, approval.conversationId)
      const to = isApproved ? 'approved' : 'denied'
      const move = { from: 'pending', to, decidedAt: timestamp(clock) } as const
      if (!(await moveApproval(transaction, toolCallId, move))) throw alreadyDecided(approval)
      const message = await findMessage(transaction, approval.messageId)
      const sizes = message?.toolResults?.map(resultSize) ?? []
      return { approval, held, kept: keptAfter(sizes.reduce((sum, size) => sum + size, 0)) }
    })
  }

  /** The tools that a call may need, loaded before anything is decided: if this fails, the call keeps waiting. */
  async function toolsOf(agent: AgentHandle): Promise<readonly Tool[]> {
    const status = await statusOf(agent.agentId)
    if (status !== 'active')
      throw conflict(`This agent is ${status} and makes no calls. Set its status to active first.`)
    return toolsFor(agent)
  }

  /** Runs the call while its conversation's lock is kept alive. */
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
     * Makes the call, or refuses it for good; the result replaces the error in the stored answer. A call is made at most
     * once: if the server dies meanwhile, it is not made again.
     */
    async decide(
      agent: AgentHandle,
      toolCallId: string,
      isApproved: boolean,
      reach: Reach,
    ): Promise<ToolResult> {
      const tools = isApproved || reach !== 'all' ? await toolsOf(agent) : []
      const taken = await take(agent, toolCallId, isApproved, { reach, tools })
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

/** The person agreed to the call as the model made it; if the tool is another one by now, it is not run. */
async function run(
  { name, arguments: given, toolVersion, messageId }: StoredApproval,
  tools: readonly Tool[],
  signal: AbortSignal,
  kept: number,
): Promise<CallOutcome> {
  const tool = tools.find(candidate => candidate.name === name)
  if (tool === undefined) return { error: `There is no tool named ${name} any more.` }
  if ((tool.version?.() ?? '') !== toolVersion)
    return {
      error: `The tool ${name} was changed after this call was asked for, so that it was not made. Ask the agent again.`,
    }
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
    status === 'denied' ? 'This call was refused before.' : 'This call was approved and made before.',
  )
}

function conversationWasTaken(): AppError {
  return conflict(
    'The call was made, but another request has taken its conversation over meanwhile, so that its result is not stored.',
  )
}
