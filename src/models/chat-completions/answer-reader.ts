import type { FinishPart, StreamPart } from '../language-model/language-model.ts'
import { filteredEnd } from '../transport/error-words.ts'
import { type ContentOptions, createAnswerContent } from './answer-content.ts'
import { EmptyAnswer, UnreadableAnswer } from './call-failure.ts'
import { countOf, type Fields, fieldsOf, isError, isFields, textOf } from './chunk.ts'
import type { StreamEvent } from './event-data.ts'
import { isCutOff, meaningOf } from './event-meaning.ts'

/** Turns the events of an answer into parts. Must not throw: an error is emitted as the last part. */
export interface AnswerReader {
  read(event: StreamEvent): void
  /** Ends the stream with these events; the last can be cut off. */
  end(events: readonly StreamEvent[]): void
  /** Ends the stream with this error. */
  fail(error: unknown): void
  /** Returns true after the last part: later events are not read. */
  isOver(): boolean
}

export interface ReaderOptions extends ContentOptions {
  /** True if an empty answer is allowed because it follows the results of tools. */
  mayBeEmpty?: boolean
}

export function createAnswerReader(
  emit: (part: StreamPart) => void,
  { mayBeEmpty = false, ...options }: ReaderOptions = {},
): AnswerReader {
  const content = createAnswerContent(emit, options)
  let usage: Fields | undefined
  let reason: string | undefined
  let hasDelta = false
  let whole: Fields = {}
  let hasBegun = false
  let isOver = false

  function fail(error: unknown): void {
    isOver = true
    emit({ type: 'error', error })
  }

  function takeChunk(chunk: Fields): void {
    hasBegun = true
    if (isFields(chunk.usage)) {
      usage = chunk.usage
      emit({ type: 'usage', usage: usageOf(usage) })
    }
    const choice = fieldsOf(Array.isArray(chunk.choices) ? chunk.choices[0] : undefined)
    const end = textOf(choice.finish_reason)
    // Qwen's servers send `'null'` as text in chunks before the last.
    if (end !== 'null') reason = end ?? reason
    const { delta, message } = choice
    hasDelta = content.take(fieldsOf(delta)) || hasDelta
    // Beside deltas, `message` repeats the text so far.
    if (hasDelta) whole = {}
    else if (isFields(delta) && isFields(message)) whole = message
    else content.take(fieldsOf(message))
    const failure = failureOf(choice)
    if (failure !== undefined) fail(failure)
  }

  /** `isMarked`: the server marked the end, or the answer came in one piece. */
  function finish(isMarked: boolean): void {
    isOver = true
    content.take(whole)
    content.end()
    if (!hasBegun) throw new UnreadableAnswer('The answer is no stream of chunks.')
    const calls = reason !== undefined || isMarked ? content.calls() : []
    const isEmpty = !content.hasText() && calls.length === 0
    const end = reason ?? (isMarked && (mayBeEmpty || !isEmpty) ? 'stop' : undefined)
    const unified = end === undefined ? 'interrupted' : finishReasonOf(end, content.hasRefused())
    if (isEmpty && !mayBeEmpty && end !== undefined && unified !== 'length') throw new EmptyAnswer(end)
    for (const call of calls) emit(call)
    emit({ type: 'finish', finishReason: { unified, raw: reason }, usage: usageOf(usage) })
  }

  function take(event: StreamEvent): void {
    const meaning = meaningOf(event)
    if (meaning.kind === 'error') fail(meaning.error)
    if (meaning.kind === 'done') finish(true)
    if (meaning.kind !== 'chunk') return
    takeChunk(meaning.chunk)
    if (meaning.isWhole && !isOver) finish(true)
  }

  function guarded(run: () => void): void {
    try {
      if (!isOver) run()
    } catch (error) {
      fail(error)
    }
  }

  return {
    read: event => guarded(() => take(event)),
    end(events) {
      for (const event of events) if (!isCutOff(event)) guarded(() => take(event))
      guarded(() => finish(false))
    },
    fail,
    isOver: () => isOver,
  }
}

/** Returns the failure of a choice, where OpenRouter puts it, or the failure in its finish reason. */
function failureOf({ error, finish_reason: reason }: Fields): unknown {
  if (isError(error)) return isFields(error) ? error : { message: String(error) }
  return failed.test(textOf(reason) ?? '') ? { message: reason, code: 502 } : undefined
}

/** Failures as ends: OpenRouter's `error`, Zhipu's `network_error`, DeepSeek's resources, vLLM's `abort`. */
const failed = /^(\w*error|insufficient_system_resource|abort(ed)?)$/i
/** `model_length` is Mistral's; `max_tokens` comes from gateways to Anthropic and Google. */
const cutOff =
  /^((model|max)_)?length$|^max_(output_|completion_|new_)?tokens$|context_(window|length)_exceeded$/i

function finishReasonOf(reason: string, hasRefused: boolean): FinishPart['finishReason']['unified'] {
  if (cutOff.test(reason)) return 'length'
  if (filteredEnd.test(reason)) return 'content-filter'
  if (reason === 'stop') return hasRefused ? 'content-filter' : 'stop'
  return reason === 'tool_calls' || reason === 'function_call' ? 'tool-calls' : 'other'
}

function usageOf(usage: Fields | undefined): FinishPart['usage'] {
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
    // The cost in US dollars, from OpenRouter.
    ...(countOf(usage?.cost) !== undefined && { raw: { cost: countOf(usage?.cost) } }),
  }
}
