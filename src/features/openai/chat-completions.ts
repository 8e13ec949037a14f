import type { Answer, Call } from './door.service.ts'
import type { ChatBody } from './openai.schema.ts'
import type { Wire } from './wire.ts'

/** The answer to `POST chat/completions`. */
export const chatCompletions: Wire<ChatBody> = ({ id, created, body: { model, stream_options } }) => {
  const of = (object: string) => ({ id: `chatcmpl-${id}`, object, created, model })
  const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`
  const chunk = (fields: object) => event({ ...of('chat.completion.chunk'), ...fields })
  const choice = (delta: object, finish_reason: string | null = null) =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] })
  return {
    whole({ text, notes, calls, finish, usage }) {
      const message = {
        role: 'assistant',
        content: text === '' && calls.length > 0 ? null : text,
        refusal: null,
        ...(notes !== '' && { reasoning_content: notes }),
        ...(calls.length > 0 && { tool_calls: calls.map(callOf) }),
      }
      const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }]
      return { ...of('chat.completion'), choices, ...(usage && { usage: usageOf(usage) }) }
    },
    begin: () => choice({ role: 'assistant', content: '' }),
    piece: piece => choice('text' in piece ? { content: piece.text } : { reasoning_content: piece.note }),
    end({ calls, finish, usage }) {
      const called = calls.map((call, index) => choice({ tool_calls: [{ index, ...callOf(call) }] }))
      const counted =
        stream_options?.include_usage && usage ? chunk({ choices: [], usage: usageOf(usage) }) : ''
      return `${called.join('')}${choice({}, finish)}${counted}data: [DONE]\n\n`
    },
    fail: error => event({ error }),
  }
}

function callOf({ id, name, arguments: input }: Call) {
  return { id, type: 'function', function: { name, arguments: input } }
}

function usageOf({ inputTokens, outputTokens, cachedInputTokens = 0 }: NonNullable<Answer['usage']>) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
  }
}
