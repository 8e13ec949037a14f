import type { PromptMessage } from '#models/language-model/language-model.ts'
import type { PersonWait } from '#models/tools/tool-turn.ts'
import type { AppError } from '#platform/errors.ts'

export type { TurnEvent } from '../stream-events.schema.ts'

/*
 * Turn: everything from a user's message to the answer. Iteration: one call of the model within a turn; it ends with text
 * or with tool calls, whose results the next iteration sees. Repeat: a tool call that was already made in the turn.
 */

export interface ToolCall {
  /** Id of nine alphanumerics. */
  id: string
  name: string
  arguments: Record<string, unknown>
}

export interface ToolResult {
  toolCallId: string
  name: string
  result?: unknown
  /** Descriptions of changes to the arguments that made them fit; only if there were any. */
  coerced?: string[]
  /** The error, for the model and for people; only for a failed call. */
  error?: string
  /** The call was not made: a person must approve it first. */
  approval?: 'required'
  /** The version of the tool when a call that waits for approval was requested. */
  toolVersion?: string
}

/** A call that a person must decide on first, or that has begun and waits for a person in a browser. */
export interface WaitingCall extends ToolCall {
  toolVersion: string
  /** The rule that makes the call wait. */
  rule: 'always' | 'tainted' | 'browser'
  approvers: 'admins' | 'chat'
  /** The content and the recipient of a call that waits because it sends something. */
  why?: string
  sends_to?: string
  /** The wait in a browser, for that rule. */
  inBrowser?: PersonWait
}

/** The end of a turn, always with its text so far. */
export interface TurnOutcome {
  content: string
  toolCalls: ToolCall[]
  toolResults: ToolResult[]
  /** The value of the accepted answer, if it had a form. */
  output?: unknown
  /** Usage from the model service; undefined if none was reported. */
  usage: Usage | undefined
  /** True if the model has read text of outsiders, which might have influenced its answer. */
  isTainted: boolean
  /** True if the model stopped early because of its max output tokens. */
  isCutOff: boolean
  /** True if a content filter stopped it. */
  isFiltered?: boolean
  /** The thoughts of the model, cut to `maxReasoningBytes`; empty if there were none. */
  reasoning: string
  /** True if the model supports no tools, so that it was called without them. */
  toolsUnsupported: boolean
  /** Names of the tools that the provider refused, so that the model was called without them. */
  toolsRefused: string[]
  end:
    | { kind: 'answered' }
    | { kind: 'aborted' }
    | { kind: 'failed'; error: AppError }
    /** The turn's last call waits for a person. */
    | { kind: 'waiting'; waits: WaitingCall }
    /** `messages` were added to the prompt, the calls at their end. */
    | { kind: 'handed-out'; calls: HandedCall[]; messages: PromptMessage[] }
}

/** A call of a tool that the caller of the turn runs. */
export interface HandedCall {
  id: string
  name: string
  /** JSON, as the model wrote it. */
  arguments: string
}

/** Tokens as the model services counted them; 0 if they did not. */
export interface Usage {
  inputTokens: number
  outputTokens: number
  /** The input tokens from the service's cache; absent if there were none. */
  cachedInputTokens?: number
  /** US dollars as a decimal; absent if a price is not known. */
  cost?: string
}
