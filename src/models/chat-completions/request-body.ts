import { type ImagePart, isImage } from '../language-model/images.ts'
import type {
  AssistantMessage,
  CallOptions,
  PromptMessage,
  ToolDefinition,
  ToolOutput,
} from '../language-model/language-model.ts'

type ToolMessage = Extract<PromptMessage, { role: 'tool' }>
type UserMessage = Extract<PromptMessage, { role: 'user' }>
type Tools = NonNullable<CallOptions['tools']>

/** Returns the body of a streamed `POST /chat/completions`; undefined fields are not sent. */
export function requestBody(model: string, options: CallOptions) {
  const { prompt, temperature, maxOutputTokens, topP, stopSequences, seed, tools = [], toolChoice } = options
  const { responseFormat, providerOptions } = options
  return {
    model,
    temperature,
    max_tokens: maxOutputTokens,
    top_p: topP,
    stop: stopSequences,
    seed,
    ...(tools.length === 0 ? {} : { tools: tools.map(toolOf), tool_choice: choiceOf(toolChoice) }),
    response_format:
      responseFormat?.type === 'json'
        ? formatOf(responseFormat, providerOptions?.openai?.strictJsonSchema === true)
        : undefined,
    stream: true,
    stream_options: { include_usage: true },
    // Messages come last, so that requests of a conversation begin with the same bytes.
    messages: prompt.flatMap(messagesOf),
  }
}

function messagesOf(message: PromptMessage): object[] {
  if (message.role === 'system') return [{ role: 'system', content: message.content }]
  if (message.role === 'user') return [{ role: 'user', content: contentOf(message) }]
  return message.role === 'assistant' ? [answerOf(message)] : resultsOf(message)
}

/** Returns a message's content, several texts as one: some servers accept no list of parts. */
function contentOf({ content }: UserMessage): string | object[] {
  if (content.some(isImage)) return content.map(part => (isImage(part) ? imageOf(part) : part))
  return content.map(part => (part.type === 'text' ? part.text : '')).join('\n\n')
}

function imageOf({ mediaType, data }: ImagePart): object {
  if (data.type !== 'data' || typeof data.data !== 'string')
    throw new TypeError(`A file as ${data.type} can't be sent to a chat completions server.`)
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${data.data}` } }
}

function answerOf({ content }: AssistantMessage): object {
  const text = content.map(part => (part.type === 'text' ? part.text : '')).join('')
  const reasoning = content
    .map(part =>
      part.type === 'reasoning' && !part.providerOptions?.[metadataKey]?.isOfText ? part.text : '',
    )
    .join('')
  const calls = content.flatMap(part => (part.type === 'tool-call' ? [callOf(part)] : []))
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

function callOf(part: Extract<AssistantMessage['content'][number], { type: 'tool-call' }>): object {
  const { toolCallId, toolName, input, providerOptions } = part
  const extra = providerOptions?.[metadataKey]?.[extraKey]
  return {
    id: toolCallId,
    type: 'function',
    function: { name: toolName, arguments: JSON.stringify(input) },
    ...(extra === undefined ? {} : { extra_content: extra }),
  }
}

/** The place of a call's `extra_content`, which must be sent back: it contains Gemini's signatures. */
export const metadataKey = 'openaiCompatible'
export const extraKey = 'extraContent'

function resultsOf({ content }: ToolMessage): object[] {
  return content.flatMap(part =>
    part.type === 'tool-result'
      ? [{ role: 'tool', tool_call_id: part.toolCallId, content: outputOf(part.output) }]
      : [],
  )
}

function outputOf(output: ToolOutput): string {
  if (output.type === 'execution-denied') return output.reason ?? 'The call was not permitted.'
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value)
}

function toolOf(tool: Tools[number]): object {
  if (tool.type === 'provider') throw new TypeError(`The tool ${tool.name} is another provider's own.`)
  const { name, description, inputSchema }: ToolDefinition = tool
  return { type: 'function', function: { name, description, parameters: inputSchema } }
}

function formatOf(
  { name = 'answer', schema }: Extract<CallOptions['responseFormat'], { type: 'json' }>,
  strict: boolean,
) {
  return schema === undefined
    ? { type: 'json_object' }
    : { type: 'json_schema', json_schema: { name, schema, strict } }
}

function choiceOf(choice: CallOptions['toolChoice']): unknown {
  if (choice?.type === 'tool') return { type: 'function', function: { name: choice.toolName } }
  return choice?.type
}
