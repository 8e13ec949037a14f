import { countImages, imageTokens, withoutImages } from '#models/language-model/images.ts'
import type { PromptMessage } from '#models/language-model/language-model.ts'
import { cutMiddle } from './truncate-result.ts'

const charactersPerToken = 4
/** Characters that a message counts besides its text: its role and the marks around it. */
const charactersPerMessage = 16
/** Characters that an image counts. */
export const imageCharacters = imageTokens * charactersPerToken
/** Tokens reserved for the system prompt, tools, passages and the answer, or half of a smaller window. */
const reservedTokens = 20_000

/** Returns the max characters of a prompt, system prompt and tools included. `window` is in tokens. */
export function promptCharacters(window: number): number {
  const reserve = Math.min(reservedTokens, Math.floor(window / 2))
  return (window - reserve) * charactersPerToken
}

/**
 * Makes a prompt fit: replaces the oldest images by their names, then drops the oldest exchanges; then shortens the longest
 * texts of the last one from the middle. System messages, the `pinned` first ones and the last exchange always stay, the former
 * whole unless they alone take more than half of the room; a tool call is never separated from its result.
 */
export function fitPrompt(whole: readonly PromptMessage[], characters: number, pinned = 0): PromptMessage[] {
  const prompt = fitImages(whole, characters)
  const isSystem = ({ role }: PromptMessage, at: number) => role === 'system' || at < pinned
  const system = prompt.filter(isSystem)
  const exchanges = splitExchanges(prompt.filter((message, at) => !isSystem(message, at)))
  let room = characters - sizeOf(system)
  const kept: PromptMessage[][] = []
  for (const exchange of exchanges.reverse()) {
    const size = sizeOf(exchange)
    if (kept.length > 0 && size > room) break
    kept.unshift(exchange)
    room -= size
  }
  if (room >= 0) return [...system, ...kept.flat()]
  const left = characters - sizeOf(system)
  if (left >= characters / 2) return [...system, ...shortenLongest(kept.flat(), left)]
  return shortenLongest([...system, ...kept.flat()], characters)
}

function fitImages(prompt: readonly PromptMessage[], characters: number): readonly PromptMessage[] {
  if (countImages(prompt) === 0) return prompt
  const excess = sizeOf(prompt) - characters
  return excess <= 0 ? prompt : withoutImages(prompt, Math.ceil(excess / imageCharacters))
}

/** Returns the size of a prompt in characters, as the budget counts it. */
export function sizeOf(messages: readonly PromptMessage[]): number {
  return messages.reduce(
    (sum, message) => sum + charactersPerMessage + textsOf(message).reduce((n, text) => n + text.length, 0),
    countImages(messages) * imageCharacters,
  )
}

/** Splits messages into exchanges, which begin with a user's message and end before the next one. */
function splitExchanges(messages: readonly PromptMessage[]): PromptMessage[][] {
  const exchanges: PromptMessage[][] = []
  for (const message of messages) {
    const current = exchanges.at(-1)
    if (message.role === 'user' || current === undefined) exchanges.push([message])
    else current.push(message)
  }
  return exchanges
}

/** Lowers one limit for all texts until the whole fits: the longest are shortened first, short ones stay whole. */
function shortenLongest(messages: PromptMessage[], characters: number): PromptMessage[] {
  const texts = messages
    .flatMap(textsOf)
    .map(text => text.length)
    .sort((a, b) => a - b)
  let room = Math.max(0, characters - messages.length * charactersPerMessage)
  let ceiling = 0
  for (const [index, length] of texts.entries()) {
    const share = Math.floor(room / (texts.length - index))
    ceiling = share
    if (length > share) break
    room -= length
    ceiling = length
  }
  return messages.map(message => mapTexts(message, text => cutMiddle(text, ceiling)))
}

/** Returns every text of a message that counts: its own, a call's arguments, a result's value. */
function textsOf(message: PromptMessage): string[] {
  const texts: string[] = []
  mapTexts(message, text => {
    texts.push(text)
    return text
  })
  return texts
}

function mapTexts(message: PromptMessage, change: (text: string) => string): PromptMessage {
  if (message.role === 'system') return { ...message, content: change(message.content) }
  if (message.role === 'user')
    return {
      ...message,
      content: message.content.map(part =>
        part.type === 'text' ? { ...part, text: change(part.text) } : part,
      ),
    }
  if (message.role === 'tool')
    return {
      ...message,
      content: message.content.map(part =>
        part.type === 'tool-result' ? { ...part, output: mapOutput(part.output, change) } : part,
      ),
    }
  return { ...message, content: message.content.map(part => mapAssistantPart(part, change)) }
}

type AssistantPart = Extract<PromptMessage, { role: 'assistant' }>['content'][number]
type ToolPart = Extract<Extract<PromptMessage, { role: 'tool' }>['content'][number], { type: 'tool-result' }>

function mapAssistantPart(part: AssistantPart, change: (text: string) => string): AssistantPart {
  if (part.type === 'text' || part.type === 'reasoning') return { ...part, text: change(part.text) }
  if (part.type !== 'tool-call') return part
  const text = JSON.stringify(part.input)
  // Cut JSON is invalid: arguments stay whole or are removed.
  return change(text) === text ? part : { ...part, input: {} }
}

function mapOutput(output: ToolPart['output'], change: (text: string) => string): ToolPart['output'] {
  if (output.type === 'text' || output.type === 'error-text')
    return { ...output, value: change(output.value) }
  if (output.type !== 'json' && output.type !== 'error-json') return output
  const text = JSON.stringify(output.value)
  const changed = change(text)
  if (changed === text) return output
  return { type: output.type === 'json' ? 'text' : 'error-text', value: changed }
}
