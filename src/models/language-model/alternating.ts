import type { AssistantMessage, PromptMessage } from './language-model.ts'

type UserMessage = Extract<PromptMessage, { role: 'user' }>

/** Replaces a user's message that was deleted, or dropped for lack of room. */
const noQuestion = '(The message that this answers is not shown.)'
/** Replaces a missing answer after the results of tools. */
const noAnswer = '(There was no answer.)'

/**
 * Returns a prompt that the templates of models accept: after the system messages, it begins with the user's
 * message, and users and assistants alternate. Neighbours are merged; calls of tools keep their results.
 */
export function alternating(prompt: readonly PromptMessage[]): PromptMessage[] {
  const messages: PromptMessage[] = []
  for (const message of prompt) {
    const last = messages.at(-1)
    if (message.role === 'user' && last?.role === 'user') messages.splice(-1, 1, joined(last, message))
    else if (message.role === 'assistant' && last?.role === 'assistant')
      messages.splice(-1, 1, joinedAnswers(last, message))
    else messages.push(...between(last, message), message)
  }
  return messages
}

function joined(one: UserMessage, other: UserMessage): UserMessage {
  return { ...one, content: [...one.content, ...other.content] }
}

function joinedAnswers(one: AssistantMessage, other: AssistantMessage): AssistantMessage {
  const isTorn = one.content.at(-1)?.type === 'text' && other.content[0]?.type === 'text'
  const gap = isTorn ? [{ type: 'text' as const, text: '\n\n' }] : []
  return { ...one, content: [...one.content, ...gap, ...other.content] }
}

/** Returns the messages that are missing between two messages. */
function between(last: PromptMessage | undefined, { role }: PromptMessage): PromptMessage[] {
  if (role === 'assistant' && (last === undefined || last.role === 'system'))
    return [{ role: 'user', content: [{ type: 'text', text: noQuestion }] }]
  if (role === 'user' && last?.role === 'tool')
    return [{ role: 'assistant', content: [{ type: 'text', text: noAnswer }] }]
  return []
}

/** Returns the prompt for a model without tools: calls are left out, results become user messages. */
export function withoutTools(prompt: readonly PromptMessage[]): PromptMessage[] {
  return alternating(
    prompt.flatMap((message): PromptMessage[] => {
      if (message.role === 'assistant') {
        const content = message.content.filter(part => part.type !== 'tool-call')
        return content.some(({ type }) => type === 'text') ? [{ ...message, content }] : []
      }
      if (message.role !== 'tool') return [message]
      const texts = message.content.flatMap(part => (part.type === 'tool-result' ? [resultText(part)] : []))
      return [{ role: 'user', content: texts.map(text => ({ type: 'text', text })) }]
    }),
  )
}

type ToolResult = Extract<
  Extract<PromptMessage, { role: 'tool' }>['content'][number],
  { type: 'tool-result' }
>

function resultText({ toolName, output }: ToolResult): string {
  return `Result of the tool ${toolName}: ${JSON.stringify('value' in output ? output.value : output)}`
}
