import type {
  FinishPart,
  ToolCall as ModelToolCall,
  PromptMessage,
} from '#models/language-model/language-model.ts'
import type { resultPart } from './prompt.ts'
import type { GuardState } from './repeat-guard.ts'
import { freshGuard } from './repeat-guard.ts'
import type { ToolCall, ToolResult, Usage } from './turn.ts'

/**
 * All that `runTurn` knows of a turn beside its input, as JSON can hold it. `TurnInput.record` is given it before each tool call,
 * after each, and after each iteration; `runTurn` goes on from one with `TurnInput.from`, given the same messages. What came after it is
 * lost: the model is called again. To park a turn, end it by throwing where it waits and keep the state that was recorded last.
 */
export interface TurnState {
  /** Number of the iteration under way, from 1. */
  iteration: number
  /** The prompt behind the messages of the input. */
  added: PromptMessage[]
  /** Calls of the iteration, once the model has made them; empty before. */
  calls: ModelToolCall[]
  /** Results of the first of these calls. */
  results: ReturnType<typeof resultPart>[]
  /** The call behind those results may have run. Set to false, it is made as if it never had been. */
  hasBegun: boolean
  /** On the call that the turn has waited with: the version of the tool that may be called, its result, or how the call ends instead. */
  decision?:
    | { toolVersion: string; hasBegun?: true }
    | { result: string }
    | {
        error: string /** So does the turn, unrecorded: it also does if its process dies there. */
        ends?: true
      }
    | undefined
  toolCalls: ToolCall[]
  toolResults: ToolResult[]
  guard: GuardState
  usage?: Usage | undefined
  content: string
  reasoning: string
  /** Deltas that were emitted. */
  deltas: number
  /** Characters that the model has streamed. */
  streamed: number
  resultCharacters: number
  isTainted: boolean
  /** The iteration that first read text of outsiders. */
  readAt?: number
  /** Ids of the agent's sources whose text has tainted the turn. */
  sources: string[]
  /** Whether the turn has read other data of the agent. */
  hasOwnData?: boolean
  isCutOff: boolean
  isFiltered: boolean
  toolsEnded: boolean
  toolsUnsupported: boolean
  toolsRefused: string[]
}

interface FreshTurn {
  isTainted: boolean
  sources?: readonly string[]
}

/** For a turn that goes on: what it changes of a state is its own. */
export function copyState(state: TurnState): TurnState {
  const { added, calls, results, decision, toolCalls, toolResults, guard, sources = [] } = state
  return {
    ...{ ...state, added: [...added], calls: [...calls], results: [...results] },
    ...{ toolCalls: [...toolCalls], toolResults: [...toolResults], decision: decision && { ...decision } },
    guard: { ...guard, made: [...guard.made] },
    sources: [...sources],
  }
}

export function freshState({ isTainted, sources = [] }: FreshTurn): TurnState {
  return {
    ...{ iteration: 1, added: [], calls: [], results: [], hasBegun: false },
    ...{ toolCalls: [], toolResults: [], guard: freshGuard(), content: '', reasoning: '' },
    ...{ deltas: 0, streamed: 0, resultCharacters: 0 },
    sources: [...sources],
    ...{ isTainted, isCutOff: false, isFiltered: false, toolsEnded: false },
    ...{ toolsUnsupported: false, toolsRefused: [] },
  }
}

/** Usage that is not reported is not counted as nothing: an answer that broke off has cost tokens, too. */
export function addUsage(sum: Usage | undefined, { inputTokens, outputTokens }: FinishPart['usage']) {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return sum
  const cached = (sum?.cachedInputTokens ?? 0) + (inputTokens.cacheRead ?? 0)
  return {
    inputTokens: (sum?.inputTokens ?? 0) + (inputTokens.total ?? 0),
    outputTokens: (sum?.outputTokens ?? 0) + (outputTokens.total ?? 0),
    ...(cached > 0 && { cachedInputTokens: cached }),
  }
}
