import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { Tool } from '#models/tools/tool.ts'
import { invalid } from '#platform/errors.ts'
import { readConversation, type Trails } from './conversation.ts'
import type { ChatBody } from './openai.schema.ts'

type Plan = Awaited<ReturnType<ChatFeature['planner']['plan']>>
export type Sent = NonNullable<Parameters<Plan['run']>[0]['sent']>

/** Max characters of a question in the search for passages. */
const maxQuestion = 100_000

/** Converts a request to the input of a turn. Throws VALIDATION_ERROR. */
export function readQuestion(body: ChatBody, trails: Trails) {
  if ((body.n ?? 1) > 1) throw invalid('n', 'must be 1: an agent gives one answer')
  const { messages, wishes, question } = readConversation(body.messages, trails)
  const { autoRag = true, enableTools = true } = body.agentstead ?? {}
  const tools = body.tool_choice === 'none' ? [] : callersTools(body)
  const toolChoice = choiceOf(body, tools)
  const { temperature, stop } = body
  const maxOutputTokens = body.max_tokens ?? body.max_completion_tokens
  const call: Sent['call'] = {
    ...(typeof temperature === 'number' && { temperature }),
    ...(maxOutputTokens && { maxOutputTokens }),
    ...(stop && { stopSequences: [stop].flat() }),
  }
  const sent: Sent = { messages, wishes, tools, call, ...(toolChoice && { toolChoice }) }
  return {
    sent,
    // A caller who requires a tool means one of the request's.
    options: {
      autoRag: autoRag && question !== '',
      enableTools: enableTools && toolChoice === undefined,
      response_format: body.response_format,
    },
    userMessage: {
      conversationId: '',
      sequence: 0,
      content: question.slice(0, maxQuestion),
      toolResults: null,
    },
  }
}

/** Returns the caller's tools, which are never run here. */
function callersTools({ tools }: ChatBody): Tool[] {
  return (tools ?? []).map(({ function: { name, description, parameters } }, at) => {
    if (!/^[\w-]{1,64}$/.test(name))
      throw invalid(`tools.${at}.function.name`, 'must be 1 to 64 of a-z, A-Z, 0-9, _ and -')
    return {
      name,
      description: description ?? '',
      isBuiltIn: true,
      isCallers: true,
      parameters: { type: 'object', properties: {}, ...parameters },
      check: async () => undefined,
      execute: async () => undefined,
    }
  })
}

function choiceOf({ tool_choice: choice }: ChatBody, tools: readonly Tool[]): Sent['toolChoice'] {
  if (choice === 'required' && tools.length > 0) return { type: 'required' }
  const { name, function: named } = Object(choice)
  const toolName: unknown = named?.name ?? name
  if (toolName === undefined) return undefined
  const tool = tools.find(each => each.name === toolName)
  if (tool === undefined) throw invalid('tool_choice', 'names no tool of the request')
  return { type: 'tool', toolName: tool.name }
}
