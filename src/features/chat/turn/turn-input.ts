import type { AnswerPart, CallOptions, Parts, PromptMessage } from '#models/language-model/language-model.ts'
import type { Cause, Tool } from '#models/tools/tool.ts'
import type { Form } from '../form/form.ts'
import type { TurnEvent } from './turn.ts'
import type { TurnState } from './turn-state.ts'

export interface TurnInput {
  /** Streams one answer of the model; rejects with AppError when the service fails. */
  stream(options: CallOptions): Parts<AnswerPart>
  /** Tokens that the model can take in. */
  contextWindow: number
  temperature: number
  /** Options of each call of the model, over the turn's own. */
  call?: Pick<CallOptions, 'maxOutputTokens' | 'stopSequences' | 'temperature'>
  /** The form that the answer must have. */
  form?: Form | undefined
  /** While tools are offered; `auto` unless given. */
  toolChoice?: CallOptions['toolChoice']
  tools: readonly Tool[]
  messages: readonly PromptMessage[]
  /** How many messages at the beginning always stay, besides system messages. */
  pinned?: number
  /** Whether the messages hold text that outsiders wrote: passages, or tool results. */
  isTainted: boolean
  /** For the model, of a call that needs approval where no person can give it; it then does not wait. */
  approvalRefusal?: string
  /** The same for a call that waits because of what it sends. */
  egressRefusal?: string
  /** Hosts to which the model may send what it likes: the setting `browse_hosts`. */
  browseHosts?: readonly string[] | undefined
  /** Ids of the agent's sources whose passages the messages hold. */
  sources?: readonly string[]
  emit(event: TurnEvent): void
  signal: AbortSignal
  /** How often the model is called with tools; if none of its answers ends the turn, it is called once more without them. */
  maxIterations: number
  /** @param known the id that a service gave, or the one that takes its place in the prompt. */
  newToolCallId(known?: string): string
  /** Has the turn wait for decisions on calls: it ends there, and goes on from this state once that has a decision. */
  park?: ((state: TurnState) => void) | undefined
  /** Passed to the tools that are called. */
  cause?: Cause
  /** Where it goes on, with the same messages; it begins without. */
  from?: TurnState | undefined
  /** Stores the state, which changes as soon as it returns; the turn goes on once it is stored, and fails if it can't be. */
  record?: ((state: TurnState) => Promise<void>) | undefined
}
