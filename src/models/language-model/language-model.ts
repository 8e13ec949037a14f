/**
 * The narrow interface through which the rest of the service uses language models: the AI SDK's language
 * model interface, version 4, reduced to the needs of a turn, with `text-retracted` added. A stream can be
 * any iterable or `Parts`.
 *
 * Additions of a provider to a part of its answer (`providerMetadata`, such as Gemini's thought signatures)
 * must be sent back as the part's `providerOptions` in the turn's next prompt, see `answer-message.ts`.
 */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'

export interface LanguageModel {
  readonly modelId: string
  /** The provider's name in this service, as in `chat/models`. */
  readonly provider: string
  doStream(options: CallOptions): PromiseLike<{ stream: AsyncIterable<StreamPart> | Parts<StreamPart> }>
  /** Removes the model's credentials from a text before it is logged; absent if there are none. */
  withoutSecrets?(text: string): string
}

/**
 * Passes on each part as it arrives, and resolves after the last: an iterator's promise costs more than the part. If
 * `take` throws, the stream ends, its connection is released, and the promise rejects with that error.
 */
export type Parts<Part> = (take: (part: Part) => void) => Promise<void>

export type CallOptions = LanguageModelV4CallOptions
export type PromptMessage = LanguageModelV4Message
export type AssistantMessage = Extract<PromptMessage, { role: 'assistant' }>
export type ToolDefinition = LanguageModelV4FunctionTool
export type ToolOutput = LanguageModelV4ToolResultOutput
export type StreamPart =
  | LanguageModelV4StreamPart
  | { type: 'text-retracted' }
  /** The usage so far, for answers that never finish. */
  | { type: 'usage'; usage: LanguageModelV4Usage }

/** The parts of a stream that a turn handles; the others (warnings, pings, partial tool input) do not leave `src/models`. */
export type AnswerPart = Extract<
  StreamPart,
  {
    type:
      | 'text-start'
      | 'text-delta'
      | 'text-end'
      /** The text so far was thoughts, which the next reasoning repeats: it is no part of the answer. */
      | 'text-retracted'
      | 'reasoning-start'
      | 'reasoning-delta'
      | 'reasoning-end'
      | 'tool-call'
      | 'finish'
  }
>

export type FinishPart = Extract<AnswerPart, { type: 'finish' }>
export type FinishReason = FinishPart['finishReason']['unified']
export type ToolCall = Extract<AnswerPart, { type: 'tool-call' }>
