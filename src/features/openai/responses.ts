import type { Answer, Call } from './door.service.ts'
import type { ResponsesBody } from './openai.schema.ts'
import type { Wire } from './wire.ts'

/** The answer to `POST responses`. Notes are left out: clients send items of reasoning back. */
export const responses: Wire<ResponsesBody> = ({ id, created, body }) => {
  const { model, temperature = null, tools = [], tool_choice = 'auto', instructions = null } = body
  const item_id = `msg_${id}`
  const inText = { item_id, output_index: 0, content_index: 0 }
  const itemOf = (status: string, content: object[]) => ({
    ...{ id: item_id, type: 'message', role: 'assistant', status, content },
  })
  const response = (status: string, more: object = {}) => ({
    ...{ id: `resp_${id}`, object: 'response', created_at: created, status, model, output: [] },
    ...{ error: null, incomplete_details: null, instructions, metadata: {}, parallel_tool_calls: true },
    ...{ previous_response_id: null, store: false, temperature, tool_choice, tools, top_p: null },
    ...more,
  })
  function whole(answer: Answer) {
    const { text, calls, finish, usage } = answer
    const reason = { length: 'max_output_tokens', content_filter: 'content_filter' }[String(finish)]
    const said = saysNothing(answer) ? [] : [itemOf('completed', [partOf(text)])]
    return response(reason ? 'incomplete' : 'completed', {
      output: [...said, ...calls.map(callOf)],
      incomplete_details: reason ? { reason } : null,
      ...(usage && { usage: usageOf(usage) }),
    })
  }

  let sequence_number = 0
  let said = ''
  const event = (type: string, fields: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...fields })}\n\n`
  const about = (type: string, fields: object) => event(`response.${type}`, fields)
  const beginText = () =>
    said !== ''
      ? ''
      : about('output_item.added', { output_index: 0, item: itemOf('in_progress', []) }) +
        about('content_part.added', { ...inText, part: partOf('') })
  const endText = () =>
    about('output_text.done', { ...inText, text: said, logprobs: [] }) +
    about('content_part.done', { ...inText, part: partOf(said) }) +
    about('output_item.done', { output_index: 0, item: itemOf('completed', [partOf(said)]) })
  function call(made: Call, output_index: number): string {
    const item = callOf(made)
    const inCall = { item_id: item.id, output_index }
    return (
      about('output_item.added', { output_index, item: { ...item, status: 'in_progress', arguments: '' } }) +
      about('function_call_arguments.delta', { ...inCall, delta: item.arguments }) +
      about('function_call_arguments.done', { ...inCall, name: item.name, arguments: item.arguments }) +
      about('output_item.done', { output_index, item })
    )
  }

  return {
    whole,
    begin: () =>
      ['created', 'in_progress'].map(type => about(type, { response: response('in_progress') })).join(''),
    piece(piece) {
      if ('note' in piece) return ''
      const begun = beginText()
      said += piece.text
      return begun + about('output_text.delta', { ...inText, delta: piece.text, logprobs: [] })
    },
    end(answer) {
      const text = saysNothing(answer) ? '' : beginText() + endText()
      const calls = answer.calls.map((made, at) => call(made, at + (text === '' ? 0 : 1)))
      const ended = whole(answer)
      return text + calls.join('') + about(ended.status, { response: ended })
    },
    fail(error) {
      const { message, code, param } = error
      // Codex retries failed requests up to five times, except for invalid ones.
      const told = code === 'turn_failed_after_tools' ? 'invalid_prompt' : code
      const failed = response('failed', { error: { code: told, message } })
      return about('failed', { response: failed }) + event('error', { code, message, param, error })
    },
  }
}

function saysNothing({ text, calls }: Answer): boolean {
  return text === '' && calls.length > 0
}

function partOf(text: string) {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function callOf({ id, name, arguments: input }: Call) {
  return { id: `fc_${id}`, type: 'function_call', status: 'completed', call_id: id, name, arguments: input }
}

function usageOf({ inputTokens, outputTokens, cachedInputTokens = 0 }: NonNullable<Answer['usage']>) {
  return {
    ...{ input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens },
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens_details: { reasoning_tokens: 0 },
  }
}
