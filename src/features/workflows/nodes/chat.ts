import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from 'typebox'
import {
  type ChatFeature,
  formSchema,
  isTurnWaiting,
  maxMessageLength,
  pauseBehindTurn,
} from '#features/chat/chat.feature.ts'
import { AppError, conflict, invalid } from '#platform/errors.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import { namesOf, splitTemplates } from '#platform/templates/resolve-templates.ts'
import { defineNode, nodeData } from '../engine/node-type.ts'

const schema = nodeData({
  message: Type.String({ maxLength: maxMessageLength }),
  model: Type.Optional(Type.String({ maxLength: 300 })),
  system_prompt: Type.Optional(Type.String({ maxLength: maxMessageLength })),
  tools: Type.Optional(Type.Boolean()),
  response_format: Type.Optional(formSchema),
  conversation_id: Type.Optional(Type.String({ maxLength: 100 })),
})

/** Continues the node whose turn has waited. */
export const chatDecidedJob = 'workflow.chat_decided'

/** Roots whose values come from no outsider. */
const ownRoots = ['agent', 'execution', 'workflow', 'now']
const lockPauseMs = 500

/** Interval between reads of a turn that waits for a person (ms); the decision continues the node earlier. */
const waitingMs = 24 * 3_600_000

export interface ChatParts extends Pick<ChatFeature, 'answerOnce' | 'answerAlone'> {
  transact: Transact
}

/** Returns the id of the message that a run of a node sends, by the key of the run. */
export function messageIdOf(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 26)
}

/** Returns the author of messages that a workflow's nodes send. */
export const authorOf = (workflowId: string) => `workflow:${workflowId}`

/** Sends the agent a message in a conversation, or alone; then only the output is kept. */
export const createChat = ({ answerOnce, answerAlone, transact }: ChatParts) =>
  defineNode(schema, {
    literal: ['message', 'system_prompt', 'response_format'],
    show: async ({ message, system_prompt }, templates) => ({
      message: await templates.fill(message),
      ...(system_prompt !== undefined && { system_prompt: await templates.fill(system_prompt) }),
    }),
    timeoutSeconds: 300,
    async run({ agent, data, templates, execution, key, now, since, signal }) {
      const { message, system_prompt = '', model, tools = true, response_format, conversation_id } = data
      const content = await templates.fill(message)
      if (content.trim() === '') throw invalid('message', 'is empty')
      if (content.length > maxMessageLength)
        throw invalid(
          'message',
          `has ${content.length} characters; a message has at most ${maxMessageLength}`,
        )
      const instructions = await templates.fill(system_prompt)
      const request = {
        content,
        enableTools: tools,
        autoRag: tools,
        ...(response_format !== undefined && { response_format }),
        ...(model !== undefined && { model }),
        ...(instructions !== '' && { instructions }),
      }
      const isOutsider = holdsForeignText(message + system_prompt)
      if (conversation_id === undefined)
        return { output: outputOf(await answerAlone(agent, { ...request, isOutsider }, signal)) }
      const asker = { isOutsider, author: authorOf(execution.workflowId), reach: 'all' as const }
      const question = { ...request, id: messageIdOf(key), conversationId: conversation_id }
      const resume = { name: chatDecidedJob, payload: key, key: `chat:${key}` }
      const send = () => answerOnce(agent.agentId, question, asker, { signal, resume })
      const answer = await onceUnlocked(send, signal).catch(async error => {
        if (isTurnWaiting(error)) return now + waitingMs
        if (!(error instanceof AppError) || error.code !== 'CONVERSATION_WAITING') throw error
        const runAt = now + pauseBehindTurn(now - since)
        await transact(agent, async (_, outbox) => {
          await outbox.cancel(resume.key)
          await outbox.add({ ...resume, runAt })
        })
        return Math.max(runAt, Date.parse(String(error.details?.until)))
      })
      if (typeof answer === 'number') return { waitUntil: answer, forApproval: undefined, isTurn: true }
      if (answer.metadata?.stopped) throw conflict('The turn was stopped by a person.')
      return { output: outputOf(answer) }
    },
  })

function holdsForeignText(text: string): boolean {
  return splitTemplates(text).paths.some(path => !ownRoots.includes(namesOf(path)[0] ?? ''))
}

async function onceUnlocked<Result>(send: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  for (;;) {
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'CONVERSATION_LOCKED') throw error
      await delay(lockPauseMs, undefined, { signal })
    }
  }
}

function outputOf({
  content,
  metadata,
  toolCalls,
  toolResults,
}: Awaited<ReturnType<ChatParts['answerAlone']>>) {
  const tool_calls = (toolCalls ?? []).map(({ id, name, arguments: givenArguments }) => {
    const error = toolResults?.find(({ toolCallId }) => toolCallId === id)?.error
    return { name, arguments: givenArguments, ...(error !== undefined && { error }) }
  })
  const { model, output } = metadata ?? {}
  return { content, ...(output !== undefined && { output }), model, tool_calls }
}
