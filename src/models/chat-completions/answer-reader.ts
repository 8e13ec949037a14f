import type { AnswerPart, StreamPart } from '../language-model/language-model.ts'
import { UnreadableAnswer } from './call-failure.ts'
import type { Fields } from './chunk.ts'
import { countOf, fieldsOf, isFields, textOf } from './chunk.ts'
import { createToolCalls } from './tool-calls.ts'

type Finish = Extract<AnswerPart, { type: 'finish' }>
type Block = 'text' | 'reasoning'

/** Turns the chunks of an answer into parts. Must not throw: an error is emitted as the last part. */
export interface AnswerReader {
  /** Takes the data of one event. */
  read(data: string): void
  /** The stream ends. */
  end(): void
  /** The stream ends, because of this error. */
  fail(error: unknown): void
  /** Whether the last part has been emitted: what comes after it is not read. */
  isOver(): boolean
}

export function createAnswerReader(emit: (part: StreamPart) => void): AnswerReader {
  const calls = createToolCalls()
  const { say, close } = createBlocks(emit)
  let usage: Fields | undefined
  let reason: string | undefined
  let hasRefused = false
  let hasBegun = false
  let isOver = false

  function takeDelta({ content, reasoning_content, reasoning, refusal, tool_calls }: Fields): void {
    const thought = textOf(reasoning_content) ?? textOf(reasoning)
    if (thought !== undefined) say('reasoning', thought)
    if (typeof content !== 'string') for (const [type, text] of piecesOf(content)) say(type, text)
    else if (content !== '') say('text', content)
    const refused = textOf(refusal)
    if (refused !== undefined) {
      hasRefused = true
      say('text', refused)
    }
    if (Array.isArray(tool_calls)) for (const call of tool_calls) calls.add(call)
  }

  function fail(error: unknown): void {
    isOver = true
    emit({ type: 'error', error })
  }

  function takeChunk(chunk: Fields): void {
    hasBegun = true
    if (isFields(chunk.usage)) usage = chunk.usage
    const choice = fieldsOf(Array.isArray(chunk.choices) ? chunk.choices[0] : undefined)
    reason = textOf(choice.finish_reason) ?? reason
    if (isFields(choice.delta)) takeDelta(choice.delta)
  }

  function finish(): void {
    isOver = true
    close()
    if (!hasBegun) throw new UnreadableAnswer('The answer is no stream of chunks.')
    if (reason !== undefined) for (const call of calls.finish()) emit(call)
    const unified = reason === undefined ? 'interrupted' : finishReasonOf(reason, hasRefused)
    emit({ type: 'finish', finishReason: { unified, raw: reason }, usage: usageOf(usage) })
  }

  function read(data: string): void {
    if (data === '[DONE]') {
      finish()
      return
    }
    const chunk = parsed(data)
    const error = errorIn(chunk)
    if (error !== undefined) fail(error)
    else takeChunk(fieldsOf(chunk))
  }

  return {
    read(data) {
      try {
        if (!isOver) read(data)
      } catch (error) {
        fail(error)
      }
    },
    end() {
      try {
        if (!isOver) finish()
      } catch (error) {
        fail(error)
      }
    },
    fail,
    isOver: () => isOver,
  }
}

/** Text and reasoning are blocks with a start and an end; one ends where the other starts. */
function createBlocks(emit: (part: StreamPart) => void) {
  let open: Block | undefined

  function close(): void {
    if (open !== undefined) emit({ type: `${open}-end`, id: open })
    open = undefined
  }

  function say(type: Block, delta: string): void {
    if (open !== type) {
      close()
      emit({ type: `${type}-start`, id: type })
      open = type
    }
    emit({ type: `${type}-delta`, id: type, delta })
  }

  return { say, close }
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new UnreadableAnswer('A chunk of the answer is not JSON.', cause)
  }
}

/**
 * The problem of a chunk: the error that it contains, which providers phrase in several ways, or that it is not a
 * chunk.
 */
function errorIn(chunk: unknown): unknown {
  if (!isFields(chunk)) return new UnreadableAnswer('A chunk of the answer is no object.')
  if (chunk.error) return isFields(chunk.error) ? chunk.error : { message: String(chunk.error) }
  if (Array.isArray(chunk.choices) || isFields(chunk.usage)) return undefined
  return chunk.object === 'error' ? chunk : new UnreadableAnswer('A chunk of the answer has no choices.')
}

/** Content as a list of parts, some of which may be reasoning, as Mistral's models send it. */
function* piecesOf(content: unknown): Generator<[Block, string]> {
  for (const part of Array.isArray(content) ? content : []) {
    const { type, text, thinking } = fieldsOf(part)
    if (type === 'text' && textOf(text)) yield ['text', String(text)]
    if (type !== 'thinking' || !Array.isArray(thinking)) continue
    const thought = thinking.map(piece => textOf(fieldsOf(piece).text) ?? '').join('')
    if (thought !== '') yield ['reasoning', thought]
  }
}

function finishReasonOf(reason: string, hasRefused: boolean): Finish['finishReason']['unified'] {
  if (reason === 'stop') return hasRefused ? 'content-filter' : 'stop'
  if (reason === 'length') return 'length'
  if (reason === 'content_filter') return 'content-filter'
  return reason === 'tool_calls' || reason === 'function_call' ? 'tool-calls' : 'other'
}

function usageOf(usage: Fields | undefined): Finish['usage'] {
  const input = countOf(usage?.prompt_tokens)
  const output = countOf(usage?.completion_tokens)
  const cached = countOf(fieldsOf(usage?.prompt_tokens_details).cached_tokens)
  const reasoning = countOf(fieldsOf(usage?.completion_tokens_details).reasoning_tokens)
  return {
    inputTokens: {
      total: input,
      noCache: input === undefined ? undefined : input - (cached ?? 0),
      cacheRead: cached,
      cacheWrite: undefined,
    },
    outputTokens: {
      total: output,
      text: output === undefined ? undefined : Math.max(0, output - (reasoning ?? 0)),
      reasoning,
    },
  }
}
