import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { ToolParameters } from '#models/tools/tool.ts'
import { fromSchema } from '#models/tools/tool.ts'
import { conflict } from '#platform/errors.ts'
import type { CallResult, ChatInput, ChatOutput } from './mcp-endpoint.schema.ts'
import { chatInputSchema, chatOutputSchema } from './mcp-endpoint.schema.ts'
import type { Call, OfferedTool } from './offered-tool.ts'
import type { InTurn } from './turns.ts'

type Chat = Pick<ChatFeature, 'questions' | 'answering'>
type TurnEvent = Parameters<NonNullable<Parameters<Chat['answering']['answer']>[2]>>[0]

/** Pieces of an answer between two signs of life. */
const piecesPerSign = 64

const { parameters: inputSchema, check } = fromSchema(chatInputSchema)
const outputSchema: ToolParameters = JSON.parse(JSON.stringify(chatOutputSchema))

/** Lets a client talk to the agent: a whole turn, with its retrieval, its tools and its lock. */
export function chatTool(
  { id, name }: { id: string; name: string },
  { questions, answering }: Chat,
  inTurn: InTurn,
): OfferedTool {
  async function converse(
    input: Parameters<Chat['questions']['accept']>[1],
    { signal, progress, asker }: Call,
  ) {
    signal.throwIfAborted()
    const question = await questions.accept(id, input, asker)
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
      const { message: content, conversationId } = input as ChatInput
      const standingConversationId = call.conversationId
      const { assistantMessage } =
        conversationId === undefined
          ? await inTurn(`${id} ${standingConversationId}`, () =>
              converse({ content, standingConversationId }, call),
            )
          : await converse({ content, conversationId }, call)
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

/** Sent to a client while a turn goes on, so that it does not give up waiting. */
function signOf(event: TurnEvent): string | undefined {
  if (event.type === 'thinking')
    return event.iteration === 1 ? 'Thinking' : `Thinking, step ${event.iteration}`
  if (event.type === 'tool_call') return `Calling ${event.name}`
  if (event.type === 'tool_result') return `${event.name} ${event.success ? 'has answered' : 'has failed'}`
  if (event.type === 'takeover_requested') return 'Waiting for a person'
  if (event.type === 'content_replaced' || event.type === 'retrieved') return undefined
  return event.index % piecesPerSign === 0 ? 'Answering' : undefined
}
