import type { ChatFeature } from '#features/chat/chat.feature.ts'
import { fromSchema, type ToolParameters } from '#models/tools/tool.ts'
import { bytesOfBase64 } from '#platform/base64.ts'
import { conflict, invalid } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import {
  type CallResult,
  type ChatInput,
  type ChatOutput,
  chatInputSchema,
  chatOutputSchema,
} from './mcp-endpoint.schema.ts'
import type { Call, OfferedTool } from './offered-tool.ts'
import type { InTurn } from './turns.ts'

type Chat = Pick<ChatFeature, 'questions' | 'answering' | 'files'>
type Question = Parameters<Chat['questions']['accept']>[1]
type TurnEvent = Parameters<NonNullable<Parameters<Chat['answering']['answer']>[2]>>[0]

/** Number of pieces of an answer between two progress messages. */
const piecesPerSign = 64

const { parameters: inputSchema, check } = fromSchema(chatInputSchema)
const outputSchema: ToolParameters = JSON.parse(JSON.stringify(chatOutputSchema))

/** A tool that lets a client talk to the agent: a whole turn, with its retrieval, its tools and its lock. */
export function chatTool(
  agent: AgentHandle,
  { id, name }: { id: string; name: string },
  { questions, answering, files }: Chat,
  inTurn: InTurn,
): OfferedTool {
  /** Accepts a question. Files without a message are removed, too. */
  async function accept(input: Question, given: ChatInput['files'], { asker }: Call) {
    const attachments: { id: string }[] = []
    try {
      for (const [at, { name, data }] of (given ?? []).entries()) {
        const content = bytesOfBase64(data)
        if (content === undefined) throw invalid(`files.${at}.data`, 'must be base64')
        attachments.push(await files.receive(agent, { name, content, author: asker.author }))
      }
      const ids = attachments.map(({ id }) => ({ id }))
      return await questions.accept(id, { ...input, ...(ids.length > 0 && { attachments: ids }) }, asker)
    } catch (error) {
      await files.discard(
        agent,
        attachments.map(({ id }) => id),
        asker.author,
      )
      throw error
    }
  }

  async function converse(input: Question, given: ChatInput['files'], call: Call) {
    const { signal, progress } = call
    signal.throwIfAborted()
    const question = await accept(input, given, call)
    return answering.answer(question, signal, event => {
      const sign = signOf(event)
      if (sign !== undefined) progress(sign)
    })
  }

  return {
    descriptor: {
      name: 'chat',
      title: `Chat with ${name}`,
      description: `Sends a message to the agent "${name}" and returns its answer. It goes on with the conversation of this session, or with that of the conversationId that an answer came with.`,
      inputSchema,
      outputSchema,
    },
    check,
    async call(input, call) {
      await call.countChat()
      const { message: content, conversationId, files: given } = input as ChatInput
      const standingConversationId = call.conversationId
      const { assistantMessage } =
        conversationId === undefined
          ? await inTurn(`${id} ${standingConversationId}`, () =>
              converse({ content, standingConversationId }, given, call),
            )
          : await converse({ content, conversationId }, given, call)
      if (assistantMessage.metadata?.stopped)
        throw conflict('The turn was stopped by a person. What was said is in the conversation.')
      return answerOf({
        answer: assistantMessage.content,
        conversationId: assistantMessage.conversationId,
        messageId: assistantMessage.id,
      })
    },
  }
}

function answerOf(output: ChatOutput): CallResult {
  return { content: [{ type: 'text', text: output.answer }], structuredContent: { ...output } }
}

/** Returns a progress message during a turn, so that the client does not give up waiting. */
function signOf(event: TurnEvent): string | undefined {
  if (event.type === 'thinking')
    return event.iteration === 1 ? 'Thinking' : `Thinking, step ${event.iteration}`
  if (event.type === 'tool_call') return `Calling ${event.name}`
  if (event.type === 'tool_result') return `${event.name} ${event.success ? 'has answered' : 'has failed'}`
  if (event.type === 'reading') return `Reading ${event.name}`
  if (event.type === 'takeover_requested') return 'Waiting for a person'
  if (event.type === 'content_replaced' || event.type === 'retrieved') return undefined
  return event.index % piecesPerSign === 0 ? 'Answering' : undefined
}
