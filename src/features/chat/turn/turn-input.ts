import type { AnswerPart, CallOptions, Parts, PromptMessage } from '#models/language-model/language-model.ts'
import type { Cause, Tool } from '#models/tools/tool.ts'
import type { Form } from '../form/form.ts'
import type { TurnEvent } from './turn.ts'
import type { TurnState } from './turn-state.ts'

export interface TurnInput {
  /** Streams one answer of the model; rejects with AppError when the service fails. */
  stream(options: CallOptions): Parts<AnswerPart>
  /** Max tokens of the model's input. */
  contextWindow: number
  temperature: number
  /** Options of each model call, which override the turn's own. */
  call?: Pick<CallOptions, 'maxOutputTokens' | 'stopSequences' | 'temperature'>
  /** The form that the answer must have. */
  form?: Form | undefined
  /** Applies while tools are offered; defaults to `auto`. */
  toolChoice?: CallOptions['toolChoice']
  tools: readonly Tool[]
  messages: readonly PromptMessage[]
  /** Number of messages at the beginning that always stay, besides system messages. */
  pinned?: number
  /** True if the messages have text of outsiders: passages, or tool results. */
  isTainted: boolean
  /** The error for the model if a call needs approval and no person can give it; the call then does not wait. */
  approvalRefusal?: string
  /** The error for a call that would wait because of the data that it sends. */
  egressRefusal?: string
  /** Hosts to which the model can send anything: the setting `browse_hosts`. */
  browseHosts?: readonly string[] | undefined
  /** Ids of the agent's sources of passages in the messages. */
  sources?: readonly string[]
  emit(event: TurnEvent): void
  signal: AbortSignal
  /** Max calls of the model with tools; if none of its answers ends the turn, a last call has no tools. */
  maxIterations: number
  /** @param known the id from a service, or the id that replaces it in the prompt. */
  newToolCallId(known?: string): string
  /** Parks the turn for decisions on calls: it ends there, and continues from this state after a decision. */
  park?: ((state: TurnState) => void) | undefined
  /** Passed to the tools that are called. */
  cause?: Cause
  /** The state to continue from, with the same messages; without one, the turn begins. */
  from?: TurnState | undefined
  /** Stores the state, which changes as soon as this returns; the turn continues once it is stored, and fails if that fails. */
  record?: ((state: TurnState) => Promise<void>) | undefined
}
