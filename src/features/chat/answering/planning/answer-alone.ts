import { type AppError, conflict } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { ChatMessage } from '../../chat.schema.ts'

import type { TurnPlanner } from './plan.ts'
import type { PlanOptions } from './turn-plan.ts'

/**
 * Answers a question outside of conversations, without storing anything. Throws the error that ended the turn, CONFLICT if a call
 * needs the approval of a person.
 */
export async function answerAlone(
  planner: TurnPlanner,
  agent: AgentHandle,
  { content, ...options }: { content: string } & PlanOptions,
  signal: AbortSignal,
): Promise<Pick<ChatMessage, 'content' | 'toolCalls' | 'toolResults' | 'metadata'>> {
  const { model, run } = await planner.plan(agent.agentId, options)
  const userMessage = { content, conversationId: '', sequence: 0, toolResults: null }
  const { end, ...said } = await run({ agent, userMessage, isFirst: true }, () => {}, signal, { parks: true })
  signal.throwIfAborted()
  if (end.kind === 'waiting') throw needsApprovalError(end.waits.name)
  if (end.kind === 'failed') throw end.error
  return { ...said, metadata: { model, ...(said.output !== undefined && { output: said.output }) } }
}

function needsApprovalError(tool: string): AppError {
  return conflict(
    `The call of ${tool} needs the approval of a person, for which only a turn of a conversation waits. It was not made. Set a ` +
      'conversation_id, or have the tool need no approval.',
  )
}
