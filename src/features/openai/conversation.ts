import { isBlank, parseToolInput } from '#models/language-model/answer-message.ts'
import type { PromptMessage } from '#models/language-model/language-model.ts'
import { acceptableName } from '#models/tools/tool-name.ts'
import { invalid } from '#platform/errors.ts'
import type { SentCall, SentMessage } from './openai.schema.ts'
import { asFilePart, placeOf } from './sent-files.ts'

/** The messages that end with a group of calls, by the id of the first call that was handed out. */
export type Trails = ReadonlyMap<string, readonly PromptMessage[]>

/**
 * Returns the messages of a request for a model, with their trails in place. A call without a result gets one that explains this:
 * model services reject a prompt without it. Throws VALIDATION_ERROR.
 */
export function readConversation(sent: readonly SentMessage[], trails: Trails) {
  const messages: PromptMessage[] = []
  const wishes: string[] = []
  let question = ''
  /** Names of the calls without a result, by id. */
  const waiting = new Map<string, string>()

  function addResult(toolCallId: string, value: string, type: 'text' | 'error-text'): void {
    const toolName = waiting.get(toolCallId) ?? ''
    const part = { type: 'tool-result', toolCallId, toolName, output: { type, value } } as const
    const last = messages.at(-1)
    if (last?.role === 'tool') last.content.push(part)
    else messages.push({ role: 'tool', content: [part] })
    waiting.delete(toolCallId)
  }

  function endCalls(): void {
    for (const id of waiting.keys()) addResult(id, 'No result of this call was sent.', 'error-text')
  }

  function addAnswer(text: string, calls: readonly SentCall[]): void {
    const added = trails.get(calls[0]?.id ?? '') ?? answer(text, calls)
    messages.push(...added)
    for (const part of added.at(-1)?.content ?? [])
      if (typeof part === 'object' && part.type === 'tool-call') waiting.set(part.toolCallId, part.toolName)
  }

  for (const [at, message] of sent.entries()) {
    const { role, content, tool_calls, tool_call_id = '' } = message
    const parts = role === 'user' ? partsOf(content, placeOf(message, at)) : []
    const text = role === 'user' ? '' : textOf(content, placeOf(message, at))
    if (role !== 'tool') endCalls()
    else if (waiting.has(tool_call_id)) addResult(tool_call_id, text, 'text')
    else throw invalid(`messages.${at}.tool_call_id`, 'must be the id of a call in the message before')
    if (role === 'assistant') addAnswer(text, tool_calls ?? [])
    if (role === 'system' || role === 'developer') wishes.push(text)
    if (role !== 'user' || parts.length === 0) continue
    question = parts
      .flatMap(part => (part.type === 'text' && asFilePart(part) === undefined ? [part.text] : []))
      .join('\n\n')
    messages.push({ role, content: parts })
  }
  endCalls()
  if (messages.length === 0) throw invalid('messages', 'must hold a text or a file of the user')
  return { messages, wishes: wishes.filter(text => !isBlank(text)).join('\n\n'), question }
}

function answer(text: string, calls: readonly SentCall[]): PromptMessage[] {
  const said = isBlank(text) ? [] : [{ type: 'text' as const, text }]
  const made = calls.map(({ id, function: { name, arguments: input } }) => ({
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: acceptableName(name),
    input: parseToolInput(input) ?? {},
  }))
  return said.length + made.length === 0 ? [] : [{ role: 'assistant', content: [...said, ...made] }]
}

type UserPart = Extract<PromptMessage, { role: 'user' }>['content'][number]

/** Returns the parts of a user's message, without blank ones; neighbouring texts are joined. Throws VALIDATION_ERROR. */
function partsOf(content: unknown, field: string) {
  if (!Array.isArray(content)) return textParts(textOf(content, field))
  const parts: UserPart[] = []
  let texts: string[] = []
  const endText = () => {
    parts.push(...textParts(texts.join('\n\n')))
    texts = []
  }
  for (const [at, part] of content.entries()) {
    const file = asFilePart(part)
    if (file === undefined) texts.push(textIn(part, `${field}.${at}`))
    else {
      endText()
      parts.push(file)
    }
  }
  endText()
  return parts
}

function textParts(text: string): UserPart[] {
  return isBlank(text) ? [] : [{ type: 'text', text }]
}

/** Returns the text of a message or a result. Throws VALIDATION_ERROR for other parts. */
export function textOf(content: unknown, field: string): string {
  if (!Array.isArray(content)) {
    if (typeof (content ?? '') === 'string') return String(content ?? '')
    throw invalid(field, 'must be a text or a list of parts')
  }
  return content.map((part: unknown, at) => textIn(part, `${field}.${at}`)).join('\n\n')
}

function textIn(part: unknown, field: string): string {
  const { type, text, refusal = text } = Object(part)
  if (/^((input_|output_)?text|refusal)$/.test(type) && typeof refusal === 'string') return refusal
  throw invalid(
    field,
    'must be text, or in a message of the user an image or a file with its data; audio can’t be heard',
  )
}
