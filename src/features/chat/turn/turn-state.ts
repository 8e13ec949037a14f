import type {
  FinishPart,
  ToolCall as ModelToolCall,
  PromptMessage,
} from '#models/language-model/language-model.ts'
import type { resultPart } from './prompt.ts'
import { freshGuard, type GuardState } from './repeat-guard.ts'
import type { ToolCall, ToolResult, Usage } from './turn.ts'

/**
 * The whole state of `runTurn` beside its input, in a form for JSON. `TurnInput.record` receives it before each tool call,
 * after each, and after each iteration; `runTurn` continues from one in `TurnInput.from`, with the same messages. Later work is
 * lost: the model is called again. To park a turn, end it by throwing where it waits and keep the last recorded state.
 */
export interface TurnState {
  /** Number of the current iteration, from 1. */
  iteration: number
  /** The prompt after the messages of the input. */
  added: PromptMessage[]
  /** Calls of the iteration, once the model has made them; empty before. */
  calls: ModelToolCall[]
  /** Results of the first of these calls. */
  results: ReturnType<typeof resultPart>[]
  /** True if the call after those results might have run. Reset to false, it is made like a new one. */
  hasBegun: boolean
  /** The decision on the waiting call: the tool's permitted version, the call's result, or the error that ends it. */
  decision?:
    | { toolVersion: string; hasBegun?: true }
    | { result: string }
    | {
        error: string /** True if the turn ends as well, unrecorded; so it does if its process dies there. */
        ends?: true
      }
    | undefined
  toolCalls: ToolCall[]
  toolResults: ToolResult[]
  guard: GuardState
  usage?: Usage | undefined
  content: string
  reasoning: string
  /** Number of emitted deltas. */
  deltas: number
  /** Number of characters that the model has streamed. */
  streamed: number
  resultCharacters: number
  isTainted: boolean
  /** The iteration that first read text of outsiders. */
  readAt?: number
  /** Ids of the agent's sources whose text has tainted the turn. */
  sources: string[]
  /** True if the turn has read other data of the agent. */
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

/** Copies a state, because a turn that continues from it changes its copy. */
export function copyState(state: TurnState): TurnState {
  const { added, calls, results, decision, toolCalls, toolResults, guard, sources = [] } = state
  return {
    ...state,
    added: [...added],
    calls: [...calls],
    results: [...results],
    toolCalls: [...toolCalls],
    toolResults: [...toolResults],
    decision: decision && { ...decision },
    guard: { ...guard, made: [...guard.made] },
    sources: [...sources],
  }
}

export function freshState({ isTainted, sources = [] }: FreshTurn): TurnState {
  return {
    iteration: 1,
    added: [],
    calls: [],
    results: [],
    hasBegun: false,
    toolCalls: [],
    toolResults: [],
    guard: freshGuard(),
    content: '',
    reasoning: '',
    deltas: 0,
    streamed: 0,
    resultCharacters: 0,
    sources: [...sources],
    isTainted,
    isCutOff: false,
    isFiltered: false,
    toolsEnded: false,
    toolsUnsupported: false,
    toolsRefused: [],
  }
}

/** Adds usage. Unreported usage does not count as zero: an interrupted answer has cost tokens, too. */
export function addUsage(sum: Usage | undefined, { inputTokens, outputTokens }: FinishPart['usage']) {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return sum
  const cached = (sum?.cachedInputTokens ?? 0) + (inputTokens.cacheRead ?? 0)
  return {
    inputTokens: (sum?.inputTokens ?? 0) + (inputTokens.total ?? 0),
    outputTokens: (sum?.outputTokens ?? 0) + (outputTokens.total ?? 0),
    ...(cached > 0 && { cachedInputTokens: cached }),
  }
}
