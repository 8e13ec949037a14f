import { AppError, invalid } from '#platform/errors.ts'
import { textOf } from './conversation.ts'
import type { ChatBody, Item, ResponsesBody, SentMessage } from './openai.schema.ts'

const stateless = 'nothing is stored here, so send the whole conversation as input'

/** Converts a request for a response to one for a chat completion. Throws VALIDATION_ERROR. */
export function asChat({
  input,
  instructions,
  max_output_tokens,
  text,
  tools,
  ...body
}: ResponsesBody): ChatBody {
  if (body.previous_response_id)
    throw new AppError('VALIDATION_ERROR', `Previous response not found: ${stateless}.`, {
      details: { code: 'previous_response_not_found', field: 'previous_response_id' },
    })
  if (body.conversation || body.background)
    throw invalid(body.background ? 'background' : 'conversation', `can’t be used: ${stateless}`)
  const { type = 'text', schema = null } = text?.format ?? {}
  const said = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : readItems(input)
  return {
    ...body,
    messages: [{ role: 'system', content: instructions ?? '' }, ...said],
    max_tokens: max_output_tokens ?? null,
    response_format: { type, json_schema: { schema } },
    // OpenAI would run other tools itself, such as a web search; the agent has its own instead.
    tools: (tools ?? []).flatMap(({ type, name, ...tool }) =>
      type === 'function' && name !== undefined ? [{ function: { name, ...tool } }] : [],
    ),
  }
}

/** A text of the assistant and the calls after it are one message. */
function readItems(items: readonly Item[]): SentMessage[] {
  const messages: SentMessage[] = []
  for (const [at, item] of items.entries()) {
    const { type = 'message', role, call_id = '', name = '' } = item
    const known = (['system', 'developer', 'user', 'assistant'] as const).find(each => each === role)
    const last = messages.at(-1)
    if (type === 'message' && known)
      messages.push({
        role: known,
        content: known === 'user' ? item.content : textOf(item.content, `input.${at}.content`),
        place: `input.${at}.content`,
      })
    else if (type === 'function_call') {
      const call = { id: call_id, function: { name, arguments: item.arguments ?? '' } }
      if (last?.role === 'assistant') last.tool_calls = [...(last.tool_calls ?? []), call]
      else messages.push({ role: 'assistant', tool_calls: [call] })
    } else if (type === 'function_call_output')
      messages.push({
        role: 'tool',
        tool_call_id: call_id,
        content: textOf(item.output, `input.${at}.output`),
      })
    else if (type !== 'reasoning')
      throw invalid(`input.${at}`, `must be a message, a function_call or its output: ${stateless}`)
  }
  return messages
}
