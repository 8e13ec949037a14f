import type { PromptMessage } from '#models/language-model/language-model.ts'
import type { PersonWait } from '#models/tools/tool-turn.ts'
import type { AppError } from '#platform/errors.ts'

export type { TurnEvent } from '../stream-events.schema.ts'

/*
 * Turn: everything from a user's message to the answer. Iteration: one call of the model within a turn; it ends with text
 * or with tool calls, whose results the next iteration sees. Repeat: a tool call that was already made in the turn.
 */

export interface ToolCall {
  /** Nine alphanumerics. */
  id: string
  name: string
  arguments: Record<string, unknown>
}

export interface ToolResult {
  toolCallId: string
  name: string
  result?: unknown
  /** How the arguments were changed so that they fit; there only if they were. */
  coerced?: string[]
  /** The error, for the model and for people; there only if the call failed. */
  error?: string
  /** The call was not made: a person has to agree to it first. */
  approval?: 'required'
  /** The version of the tool when a call that waits for approval was requested. */
  toolVersion?: string
}

/** A call that a person decides on before it is made, or that was begun and waits for a person in a browser. */
export interface WaitingCall extends ToolCall {
  toolVersion: string
  /** By which it waits. */
  rule: 'always' | 'tainted' | 'browser'
  approvers: 'admins' | 'chat'
  /** The content and the receiver of a call that waits because it sends something. */
  why?: string
  sends_to?: string
  /** Of the last rule. */
  inBrowser?: PersonWait
}

/** How a turn ended, always with what was said until then. */
export interface TurnOutcome {
  content: string
  toolCalls: ToolCall[]
  toolResults: ToolResult[]
  /** The value of the accepted answer, where it was to have a form. */
  output?: unknown
  /** As the model service reported it; undefined if it reported none. */
  usage: Usage | undefined
  /** Whether the model was shown text that outsiders wrote, which may have steered what it said. */
  isTainted: boolean
  /** Whether the model stopped in the middle, since it may answer with no more tokens. */
  isCutOff: boolean
  /** Whether a content filter did that. */
  isFiltered?: boolean
  /** The thoughts of the model, cut to `maxReasoningBytes`; empty if it showed none. */
  reasoning: string
  /** Whether the model takes no tools, so that it was called without them. */
  toolsUnsupported: boolean
  /** Names of the tools that the provider refused, so that the model was called without them. */
  toolsRefused: string[]
  end:
    | { kind: 'answered' }
    | { kind: 'aborted' }
    | { kind: 'failed'; error: AppError }
    /** Its last call waits for a person. */
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

/** Tokens as the model services counted them; 0 where they did not. */
export interface Usage {
  inputTokens: number
  outputTokens: number
  /** Of the input, those that the service had in a cache; absent if there were none. */
  cachedInputTokens?: number
  /** US dollars as a decimal; absent if a price is not known. */
  cost?: string
}
