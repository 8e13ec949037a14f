import { parseJson } from '#platform/exact-json.ts'
import { isDeeperThan, maxModelLevels } from '#platform/json-depth.ts'
import { hasMoreValuesThan, maxValues } from '#platform/json-values.ts'
import { acceptableName } from '../tools/tool-name.ts'
import type { AnswerPart, AssistantMessage, ToolCall } from './language-model.ts'

type Content = AssistantMessage['content'][number]
type TextContent = Extract<Content, { type: 'text' | 'reasoning' }>

interface OpenContent {
  id: string
  content: TextContent
}

/** Collects a streamed answer into the message that represents it in the next prompt. */
export interface AnswerMessage {
  add(part: AnswerPart): void
  /** Returns texts and reasoning in order, then the tool calls, each with its provider's metadata. */
  message(): AssistantMessage
}

/**
 * Creates the message. It includes reasoning and provider metadata: Gemini refuses a tool call without its
 * signature, and models that think between tools need their reasoning.
 */
export function createAnswerMessage(): AnswerMessage {
  let texts: TextContent[] = []
  /** The open contents, usually one: searching them costs less than a key for each part would. */
  let open: OpenContent[] = []
  const toolCalls: Content[] = []

  function contentOf(type: TextContent['type'], id: string): TextContent {
    const known = open.find(each => each.id === id && each.content.type === type)
    if (known !== undefined) return known.content
    const content: TextContent = { type, text: '' }
    texts.push(content)
    open.push({ id, content })
    return content
  }

  return {
    add(part) {
      if (part.type === 'finish') return
      if (part.type === 'tool-call') {
        toolCalls.push(toolCallContent(part))
        return
      }
      if (part.type === 'text-retracted') {
        texts = texts.filter(({ type }) => type !== 'text')
        open = open.filter(({ content }) => content.type !== 'text')
        return
      }
      const content = contentOf(part.type.startsWith('text') ? 'text' : 'reasoning', part.id)
      if ('delta' in part) content.text += part.delta
      if (part.providerMetadata !== undefined) content.providerOptions = part.providerMetadata
      if (part.type.endsWith('-end')) open = open.filter(each => each.content !== content)
    },
    message: () => ({
      role: 'assistant',
      content: [
        ...texts.filter(({ text, providerOptions }) => !isBlank(text) || providerOptions),
        ...toolCalls,
      ],
    }),
  }
}

/** True for blank text. Anthropic refuses a whole prompt for one, which would block its conversation. */
export function isBlank(text: string): boolean {
  return text.trim() === ''
}

function toolCallContent({ toolCallId, toolName, input, providerMetadata }: ToolCall): Content {
  const call = {
    type: 'tool-call' as const,
    toolCallId,
    toolName: acceptableName(toolName),
    input: parseToolInput(input) ?? {},
  }
  return providerMetadata === undefined ? call : { ...call, providerOptions: providerMetadata }
}

/**
 * Returns a call's arguments as an object; empty text means none. Undefined for anything but a JSON object,
 * for too many values, and for nesting too deep to be serialised again.
 */
export function parseToolInput(input: string): Record<string, unknown> | undefined {
  if (isBlank(input)) return {}
  if (hasMoreValuesThan(input, maxValues) || isDeeperThan(maxModelLevels, input)) return undefined
  try {
    const value: unknown = parseJson(input)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
