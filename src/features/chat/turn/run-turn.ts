import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { createAnswerMessage, isBlank, parseToolInput } from '#models/language-model/answer-message.ts'
import type {
  AnswerPart,
  CallOptions,
  FinishPart,
  ToolCall as ModelToolCall,
  ToolDefinition,
} from '#models/language-model/language-model.ts'
import { acceptArguments } from '#models/tools/accept-arguments.ts'
import type { Tool } from '#models/tools/tool.ts'
import { CallWaits } from '#models/tools/tool-turn.ts'
import { AppError } from '#platform/errors.ts'
import { fitPrompt, promptCharacters } from './context-budget.ts'
import { type HeldCall, judgeEgress, noteOrigin } from './egress.ts'
import { performCall } from './perform-call.ts'
import { resultPart } from './prompt.ts'
import {
  approvalNeeded,
  browseHostsHelp,
  changed,
  mayHaveRun,
  notCalledYet,
  secretHeld,
  unreadableArguments,
} from './refusals.ts'
import { createRepeatGuard } from './repeat-guard.ts'
import { resultEvent, TurnWaits } from './result-event.ts'
import { keptAfter, resultSize, truncateResult } from './truncate-result.ts'
import type { ToolCall, ToolResult, TurnOutcome, WaitingCall } from './turn.ts'
import type { TurnInput } from './turn-input.ts'
import { addUsage, copyState, freshState, type TurnState } from './turn-state.ts'

/**
 * Runs one turn: calls the model, runs the tools that it calls, and repeats both until it answers. Uses no transport and no
 * storage. Must not throw: every failure is an outcome, with the text until then.
 */
export async function runTurn(input: TurnInput): Promise<TurnOutcome> {
  const turn = new Turn(input)
  try {
    return turn.outcome(await turn.run())
  } catch (error) {
    if (error instanceof TurnWaits) return turn.outcome({ kind: 'waiting', waits: error.waits })
    if (input.signal.aborted) return turn.outcome({ kind: 'aborted' })
    const known = error instanceof AppError
    return turn.outcome({
      kind: 'failed',
      error: known
        ? error
        : new AppError('INTERNAL_ERROR', 'The answer could not be finished.', { cause: error }),
    })
  }
}

type Held = Omit<ToolResult, 'toolCallId' | 'name'>

interface Answer {
  text: string
  calls: ModelToolCall[]
}

/** Max characters that a model streams in one turn, thoughts and arguments included: no honest answer comes near. */
const maxCharacters = 1_000_000
/** Max bytes of the thoughts that are stored of a turn. */
const maxReasoningBytes = 32 * 1024
/** Max tool calls in one answer of the model. */
const maxCallsAtOnce = 64

/** The state of one turn. */
class Turn {
  readonly #input: TurnInput
  readonly #state: TurnState
  readonly #guard: ReturnType<typeof createRepeatGuard>
  readonly #callersTools: readonly Tool[]
  #output: unknown

  constructor(input: TurnInput) {
    this.#input = input
    this.#state = input.from ? copyState(input.from) : freshState(input)
    this.#guard = createRepeatGuard(this.#state.guard)
    this.#callersTools = input.tools.filter(({ isCallers }) => isCallers)
  }

  async run(): Promise<TurnOutcome['end']> {
    const state = this.#state
    for (; state.iteration <= this.#input.maxIterations; state.iteration += 1) {
      if (state.calls.length === 0) {
        this.#input.emit({ type: 'thinking', iteration: state.iteration })
        const answer = await this.#callModel(state.toolsEnded ? this.#callersTools : this.#input.tools)
        const { calls } = answer
        if (calls.every(({ toolName }) => this.#isCallers(toolName))) return await this.#end(answer)
        state.calls = calls
      }
      await this.#call()
    }
    const { text, calls } = await this.#callModel(this.#callersTools)
    return await this.#end({ text, calls: calls.filter(({ toolName }) => this.#isCallers(toolName)) })
  }

  #isCallers(name: string): boolean {
    return this.#callersTools.some(tool => tool.name === name)
  }

  async #end({ text, calls }: Answer): Promise<TurnOutcome['end']> {
    if (calls.length === 0) {
      await this.#bringIntoForm(text)
      return { kind: 'answered' }
    }
    const handed = calls.map(({ toolCallId: id, toolName: name, input }) => ({
      id,
      name,
      arguments: input || '{}',
    }))
    return { kind: 'handed-out', calls: handed, messages: this.#state.added }
  }

  /** Replaces the content by the JSON alone. A repair calls no tools, because they would act again. */
  async #bringIntoForm(text: string): Promise<void> {
    const { form, signal } = this.#input
    if (form === undefined) return
    const repair = async (problem: string) => {
      const { added } = this.#state
      if (isBlank(text)) added.pop()
      const correction = `Your answer does not fit: ${problem}. Give nothing but JSON that does.`
      added.push({ role: 'user', content: [{ type: 'text', text: correction }] })
      return (await this.#callModel([])).text
    }
    const { json, value } = await form.read(text, repair, signal)
    if (json !== this.#state.content) this.#replace(json)
    this.#output = value
  }

  outcome(end: TurnOutcome['end']): TurnOutcome {
    const { content, toolCalls, toolResults, usage, isTainted, isCutOff, isFiltered } = this.#state
    return {
      content,
      toolCalls,
      toolResults,
      usage,
      isTainted,
      isCutOff,
      ...(isFiltered && { isFiltered: true }),
      ...(this.#output !== undefined && { output: this.#output }),
      reasoning: beginningWithin(maxReasoningBytes, this.#state.reasoning),
      toolsUnsupported: this.#state.toolsUnsupported,
      toolsRefused: this.#state.toolsRefused,
      end,
    }
  }

  async #callModel(tools: readonly Tool[]): Promise<Answer> {
    const message = createAnswerMessage()
    const answer: Answer = { text: '', calls: [] }
    const contentBefore = this.#state.content
    if (this.#state.reasoning !== '') this.#think('\n\n')
    await this.#input.stream(this.#options(tools))(given => {
      const part = this.#identified(given)
      this.#bound(part, answer)
      message.add(part)
      if (part.type === 'text-delta') this.#say(part.delta, answer)
      if (part.type === 'reasoning-delta') this.#think(part.delta)
      if (part.type === 'text-retracted') this.#retract(contentBefore, answer)
      // Without tools, a call is the model's mistake, and can have no result.
      if (part.type === 'tool-call' && tools.length > 0) answer.calls.push(part)
      if (part.type === 'finish') this.#finish(part)
    })
    this.#input.signal.throwIfAborted()
    this.#state.added.push(message.message())
    return answer
  }

  /** Replaces ids of the caller's calls: callers store ids, and those of some model services repeat. */
  #identified(part: AnswerPart): AnswerPart {
    if (part.type !== 'tool-call' || !this.#isCallers(part.toolName)) return part
    return { ...part, toolCallId: this.#input.newToolCallId(part.toolCallId) }
  }

  /** Limits the answer, so that an endless stream can't fill the memory. */
  #bound(part: AnswerPart, { calls }: Answer): void {
    if ('delta' in part) this.#state.streamed += part.delta.length
    if ('input' in part) this.#state.streamed += part.input.length
    if (this.#state.streamed > maxCharacters || calls.length > maxCallsAtOnce)
      throw new AppError('MODEL_ERROR', 'The model gave more than an answer may hold, so it was cut off.')
  }

  #options(tools: readonly Tool[]): CallOptions {
    const definitions: ToolDefinition[] = tools.map(({ name, description, parameters }) => ({
      type: 'function',
      name,
      description,
      inputSchema: parameters as ToolDefinition['inputSchema'],
    }))
    const { toolChoice = { type: 'auto' } } = this.#input
    const room = promptCharacters(this.#input.contextWindow) - JSON.stringify(definitions).length
    return {
      prompt: fitPrompt([...this.#input.messages, ...this.#state.added], room, this.#input.pinned),
      temperature: this.#input.temperature,
      ...this.#input.call,
      ...this.#input.form?.call,
      abortSignal: this.#input.signal,
      ...(definitions.length > 0 && { tools: definitions, toolChoice }),
    }
  }

  #say(said: string, answer: Answer): void {
    // Not every database can store this character, and no reader needs it.
    const delta = said.replaceAll('\u0000', '')
    if (delta === '') return
    // Texts of different iterations are separate paragraphs.
    const text = answer.text === '' && this.#state.content !== '' ? `\n\n${delta}` : delta
    answer.text += delta
    this.#state.content += text
    this.#input.emit({ type: 'content_delta', delta: text, index: this.#state.deltas })
    this.#state.deltas += 1
  }

  #think(thought: string): void {
    if (this.#state.reasoning.length < maxReasoningBytes)
      this.#state.reasoning += thought.replaceAll('\u0000', '')
  }

  /** Retracts the text of this iteration, which was thoughts. */
  #retract(content: string, answer: Answer): void {
    answer.text = ''
    this.#replace(content)
  }

  #replace(content: string): void {
    this.#state.content = content
    this.#input.emit({ type: 'content_replaced', content })
  }

  #finish({ usage, finishReason, providerMetadata }: FinishPart): void {
    this.#state.usage = addUsage(this.#state.usage, usage)
    const { toolsUnsupported, toolsRefused } = providerMetadata?.tools ?? {}
    this.#state.toolsUnsupported ||= toolsUnsupported === true
    const refused = Array.isArray(toolsRefused) ? toolsRefused.map(String) : []
    this.#state.toolsRefused = [...new Set([...this.#state.toolsRefused, ...refused])]
    const { unified, raw } = finishReason
    // A refusal ends by itself, and is complete.
    this.#state.isFiltered ||= unified === 'content-filter' && raw !== 'stop'
    this.#state.isCutOff ||= unified === 'length' || this.#state.isFiltered
  }

  /** Makes the calls of the iteration that have no result yet. */
  async #call(): Promise<void> {
    const state = this.#state
    for (const call of state.calls.slice(state.results.length)) {
      const isInterrupted = state.hasBegun
      const known = isInterrupted ? state.toolCalls.at(-1)?.id : undefined
      const id = known ?? this.#input.newToolCallId(call.toolCallId)
      const given = parseToolInput(call.input)
      if (!isInterrupted) await this.#begin(call, id, given)
      const outcome = await this.#perform(call.toolName, given, isInterrupted)
      this.#input.signal.throwIfAborted()
      await this.#finishCall(call, { toolCallId: id, name: call.toolName, ...outcome })
    }
    // A model that calls tools without pause must not block the event loop.
    await yieldToOthers()
  }

  async #begin(call: ModelToolCall, id: string, given: Record<string, unknown> | undefined) {
    const shown = { id, name: call.toolName, arguments: await this.#shown(call.toolName, given) }
    this.#state.hasBegun = true
    this.#state.toolCalls.push(shown)
    this.#input.emit({ type: 'tool_call', ...shown })
    await this.#record()
  }

  async #finishCall({ toolCallId }: ModelToolCall, result: ToolResult): Promise<void> {
    const state = this.#state
    state.hasBegun = false
    state.toolResults.push(result)
    state.resultCharacters += resultSize(result)
    this.#input.emit(resultEvent(result))
    state.results.push(resultPart(toolCallId, result))
    if (state.results.length === state.calls.length) {
      state.added.push({ role: 'tool', content: state.results })
      state.calls = []
      state.results = []
    }
    const { decision } = state
    if (decision && 'ends' in decision) throw new AppError('APPROVAL_EXPIRED', decision.error)
    state.decision = undefined
    await this.#record()
  }

  /** Records the state. There is no `await` between a call's events and its record, so readers never see only one of them. */
  async #record(): Promise<void> {
    if (this.#input.record === undefined) return
    const { calls, iteration } = this.#state
    const next = calls.length === 0 ? iteration + 1 : iteration
    await this.#input.record({ ...this.#state, iteration: next })
  }

  /** True for a repeated call. A call that has waited was judged before its wait. */
  #isRepeated(name: string, given: Record<string, unknown>, tool: Tool): boolean {
    const verdict = this.#guard.judge(name, given, tool.observesChange)
    if (verdict === 'ended') this.#state.toolsEnded = true
    return verdict !== 'new'
  }

  #needsApproval({ requiresApproval }: Tool): boolean {
    return requiresApproval === 'always' || (requiresApproval === true && this.#state.isTainted)
  }

  /** Returns whether an approved call might have begun before, and records that it begins now. */
  async #hadBegun(decision: { hasBegun?: true }): Promise<boolean> {
    if (decision.hasBegun) return true
    decision.hasBegun = true
    await this.#record()
    return false
  }

  /** Returns undefined for a call that is made now. */
  async #mustWait(tool: Tool, given: Record<string, unknown>, accepted: Record<string, unknown>) {
    if (this.#state.decision !== undefined) return undefined
    const held = await judgeEgress(this.#input, this.#state, tool, accepted)
    return held || this.#needsApproval(tool) ? this.#hold(tool, given, held) : undefined
  }

  /** Returns the error of a call that is not made now, and parks the turn if a person can approve. */
  #hold(
    { requiresApproval, approvers = 'admins', version }: Tool,
    given: Record<string, unknown>,
    held?: HeldCall,
  ): Held {
    const toolVersion = version?.() ?? ''
    const { approvalRefusal, egressRefusal } = this.#input
    const refusal = held ? egressRefusal : approvalRefusal
    if (refusal !== undefined) return { error: held ? `${refusal} ${held.why} ${browseHostsHelp}` : refusal }
    const rule = requiresApproval === 'always' ? 'always' : 'tainted'
    this.#park({ toolVersion, approvers, rule, ...held })
    const isShownWhole = this.#state.toolCalls.at(-1)?.arguments === given
    if (!isShownWhole) return { error: secretHeld }
    const error = held ? `${approvalNeeded} ${held.why}` : approvalNeeded
    return { error, approval: 'required', toolVersion }
  }

  /** Throws TurnWaits. Returns if the turn can't wait. */
  #park(wait: Omit<WaitingCall, keyof ToolCall>): void {
    const { park } = this.#input
    const call = this.#state.toolCalls.at(-1)
    if (park === undefined || call === undefined) return
    park(this.#state)
    throw new TurnWaits({ ...call, ...wait })
  }

  /** Returns the max characters of the next result. */
  #kept(): number {
    return keptAfter(this.#state.resultCharacters)
  }

  async #shown(name: string, given: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const tool = this.#input.tools.find(candidate => candidate.name === name)
    return (await tool?.shown?.(given)) ?? given
  }

  async #perform(
    name: string,
    given: Record<string, unknown> | undefined,
    isInterrupted: boolean,
  ): Promise<Omit<ToolResult, 'toolCallId' | 'name'>> {
    const tool = this.#input.tools.find(candidate => candidate.name === name)
    if (tool === undefined) return { error: `There is no tool named ${name}.` }
    if (tool.isCallers) return { error: notCalledYet }
    if (given === undefined) return { error: unreadableArguments }
    const { decision } = this.#state
    if (decision && 'error' in decision) return { error: decision.error }
    if (decision && 'result' in decision) return { result: truncateResult(decision.result, this.#kept()) }
    const repeated = decision === undefined && this.#isRepeated(name, given, tool)
    if (repeated)
      return { error: 'This call was made before with the same arguments. Use its result, or answer.' }
    const accepted = await acceptArguments(tool, given)
    if (accepted.problem !== undefined) return { error: accepted.problem }
    const { signal, cause } = this.#input
    const version = tool.version?.() ?? ''
    const held = await this.#mustWait(tool, given, accepted.input)
    if (held !== undefined) return held
    if (decision && decision.toolVersion !== version) return { error: changed(name) }
    this.#state.isTainted = true
    const mayHaveBegun = decision ? await this.#hadBegun(decision) : isInterrupted
    if (mayHaveBegun && !(await tool.readsOnly?.())) return { error: mayHaveRun }
    const outcome = await performCall(tool, accepted, signal, this.#kept(), cause).catch(error => {
      noteOrigin(this.#input, this.#state, tool, undefined)
      if (error instanceof CallWaits)
        this.#park({ toolVersion: version, rule: 'browser', approvers: 'admins', inBrowser: error.wait })
      throw error
    })
    noteOrigin(this.#input, this.#state, tool, 'result' in outcome ? outcome.result : undefined)
    return outcome
  }
}

/** Returns the beginning of a text, without a cut character. */
function beginningWithin(bytes: number, text: string): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes))
  return text.slice(0, read).trim()
}
