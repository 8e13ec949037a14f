import type { SettingsService, StoredSettings } from '#features/agents/settings.service.ts'
import { temperatureOf, waitSecondsOf } from '#features/agents/settings.service.ts'
import type { ToolsOf } from '#features/collect-tools.ts'
import type { FoundPassage, KnowledgeService } from '#features/knowledge/knowledge.service.ts'
import type { Meter, UsageService } from '#features/usage/usage.service.ts'
import type { LanguageModel, PromptMessage } from '#models/language-model/language-model.ts'
import type { CitedPassage } from '#models/language-model/passages.ts'
import type { Models } from '#models/models.ts'
import type { Tool } from '#models/tools/tool.ts'
import { nameTools } from '#models/tools/tool-name.ts'
import type { ToolTurn } from '#models/tools/tool-turn.ts'
import { streamWithRetry } from '#models/transport/call-with-retry.ts'
import type { Clock } from '#platform/clock.ts'
import type { AppError } from '#platform/errors.ts'
import { conflict, invalid } from '#platform/errors.ts'
import type { Ids } from '#platform/ids.ts'
import type { Log } from '#platform/logging/log.ts'
import { orAborted } from '#platform/or-aborted.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { ChatMessage, ReadPage } from '../chat.schema.ts'
import { readBounded } from '../conversations/bounded-window.ts'
import type { ConversationDocuments, OpenDocuments } from '../files/conversation-documents.ts'
import { noDocuments } from '../files/conversation-documents.ts'
import type { Form } from '../form/form.ts'
import { formOf } from '../form/form.ts'
import type { ResponseFormat } from '../form/response-format.ts'
import type { Asker } from '../reach.ts'
import type { StoredMessage } from '../rows/messages.repository.ts'
import { promptCharacters, sizeOf } from '../turn/context-budget.ts'
import { fitTools } from '../turn/fit-tools.ts'
import { buildPrompt, buildSentPrompt, documentsMessages, passagesText } from '../turn/prompt.ts'
import { runTurn } from '../turn/run-turn.ts'
import { seenCharacters } from '../turn/truncate-result.ts'
import type { TurnEvent, TurnOutcome } from '../turn/turn.ts'
import type { TurnInput } from '../turn/turn-input.ts'
import type { TurnState } from '../turn/turn-state.ts'
import type { PlannedState, Recording } from '../waiting/recorded-turn.ts'
import { createCitedList, createPageList } from './page-list.ts'
import { readImages } from './read-images.ts'

/** Max messages of a conversation that are read for a prompt. */
const historyMessages = 400

/** The plan for answering a question, made before the question is stored, so that a wrong model costs nothing. */
export interface TurnPlan {
  model: string
  /** The agent's settings when the question was asked. */
  settings: StoredSettings
  run(
    context: QuestionContext,
    emit: (event: TurnEvent) => void,
    signal: AbortSignal,
    recording?: Recording<PlannedState>,
  ): Promise<PlannedOutcome>
}

export interface PlannedOutcome extends TurnOutcome {
  /** Number of the agent's tools that the model was not offered, because there are too many for it. */
  toolsLeftOut: number
  /** Pages that tools have read, in order of first reading. */
  pages: ReadPage[]
  /** Passages that the model was shown, in order of retrieval. */
  passages: CitedPassage[]
  /** The state of a turn that waits. */
  planned?: PlannedState
  /** The passages as the prompt had them after the question; empty if none was found. */
  shown: string
}

interface QuestionContext {
  agent: AgentHandle
  /** A message without an id is not stored. */
  userMessage: Pick<StoredMessage, 'conversationId' | 'sequence' | 'content' | 'toolResults' | 'metadata'> &
    Partial<Pick<StoredMessage, 'id'>>
  /** True if the conversation has no earlier messages. */
  isFirst: boolean
  /** The caller's conversation, which replaces a stored one. */
  sent?: SentConversation
}

/** A conversation stored by the caller and sent in full. Its texts are untrusted. */
export interface SentConversation extends Pick<TurnInput, 'call' | 'toolChoice'> {
  /** The messages without a system message. */
  messages: readonly PromptMessage[]
  /** The caller's own instructions, which follow the agent's. */
  wishes: string
  /** The tools that the caller runs. */
  tools: readonly Tool[]
}

export interface PlanOptions extends Pick<Asker, 'isOutsider'> {
  model?: string
  enableTools?: boolean
  autoRag?: boolean
  /** Replaces the agent's own instructions. */
  instructions?: string
  response_format?: ResponseFormat | null | undefined
}

interface Dependencies {
  settings: Pick<SettingsService, 'profileOf'>
  models: Pick<Models, 'resolve'>
  knowledge: Pick<KnowledgeService, 'passages'>
  usage: Pick<UsageService, 'meter'>
  documents: { open: OpenDocuments }
  toolsOf: ToolsOf
  searchWorkers: WorkerPool
  maxIterations: number
  clock: Clock
  ids: Ids
  log: Log
}

const nobodyApproves =
  'This call needs the approval of a person, which can only be given in a conversation that is kept at this service. It was ' +
  'not made. Say what it would do, and that it has to be asked for there.'

/** Reads the messages before a question: only as many as fill the prompt, because others would be dropped anyway. */
async function readHistory({ agent: { db }, userMessage, isFirst }: QuestionContext, contextWindow: number) {
  if (isFirst) return []
  const { conversationId, sequence } = userMessage
  const window = { conversationId, before: sequence, end: 'newest', limit: historyMessages } as const
  const { messages } = await readBounded(db, window, {
    characters: promptCharacters(contextWindow),
    ofResult: seenCharacters,
  })
  return messages
}

interface PromptParts
  extends Pick<Parameters<typeof buildPrompt>[0], 'agentName' | 'instructions' | 'passages'> {
  history: readonly StoredMessage[]
  form: Form | undefined
  /** Messages after the system message. */
  documents: readonly PromptMessage[]
}

async function promptOf(
  { agent, sent, userMessage: question }: QuestionContext,
  { form, documents, ...of }: PromptParts,
  contextWindow: number,
): Promise<PromptMessage[]> {
  const parts = { ...of, wishes: [sent?.wishes, form?.rule].filter(Boolean).join('\n\n') }
  if (sent) return buildSentPrompt({ ...parts, messages: sent.messages })
  const { content, metadata } = question
  const images = await readImages(agent, [...parts.history, question], contextWindow)
  const asked = { question: content, attachments: metadata?.attachments, images }
  const prompt = buildPrompt({ ...parts, ...asked, roomForPassages: promptCharacters(contextWindow) / 2 })
  return prompt.toSpliced(1, 0, ...documents)
}

async function formFor(
  { searchWorkers }: Pick<Dependencies, 'searchWorkers'>,
  { response_format }: PlanOptions,
  provider: string,
): Promise<Form | undefined> {
  const form = await formOf(searchWorkers, response_format)
  if (form === undefined || provider !== 'builtin') return form
  throw invalid('response_format', 'can’t be used with the model builtin, which answers in its own words')
}

/** True for text of outsiders in the prompt: tool results, answers that can repeat it in other words, or files. */
function isTainted({ toolResults, metadata }: Pick<StoredMessage, 'toolResults' | 'metadata'>): boolean {
  return toolResults !== null || metadata?.tainted === true || metadata?.attachments !== undefined
}

function isTaintedBy({ userMessage, sent }: QuestionContext, history: readonly StoredMessage[]): boolean {
  return sent !== undefined || [userMessage, ...history].some(isTainted)
}

interface Retrieval extends Pick<TurnInput, 'emit' | 'signal' | 'contextWindow'> {
  autoRag?: boolean | undefined
  documents: ConversationDocuments
  cited: ReturnType<typeof createCitedList>
}

/** Finds the passages for a question. A failing search does not fail the turn, because it can answer without them. */
async function retrieve(
  { knowledge, log }: Pick<Dependencies, 'knowledge' | 'log'>,
  { agent, userMessage: { content } }: QuestionContext,
  { autoRag = true, contextWindow, documents, cited, emit, signal }: Retrieval,
): Promise<FoundPassage[]> {
  const characters = promptCharacters(contextWindow) / 4
  const search = async () => {
    const ofFiles = await documents.passagesFor(content, signal)
    return await knowledge.passages(agent, content, characters, signal, ofFiles)
  }
  const isWanted = autoRag && content !== ''
  const found = !isWanted
    ? []
    : await search().catch(error => {
        if (!signal.aborted) log.warn({ err: error, agentId: agent.agentId }, 'automatic retrieval failed')
        return []
      })
  const passages = found.map(passage => passage.cited)
  cited.add(passages)
  emit({ type: 'retrieved', passages })
  return found
}

/** Passes on reports of tools, except for those that are listed on the answer. */
function reportTo(
  pages: ReturnType<typeof createPageList>,
  cited: ReturnType<typeof createCitedList>,
  emit: TurnInput['emit'],
): ToolTurn['report'] {
  return event => {
    if (event.type === 'page_read') pages.add(event)
    else if (event.type === 'passages_found') cited.add(event.passages)
    else emit(event)
  }
}

/** Returns undefined for a question outside of conversations. */
function conversationOf({ userMessage, sent }: QuestionContext): string | undefined {
  return sent === undefined && userMessage.id !== undefined ? userMessage.conversationId : undefined
}

/** Returns the data for judging calls. Outside of conversations, no person can approve what calls send. */
function judgedBy(
  context: QuestionContext,
  { history, passages, documents }: JudgedParts,
  { isOutsider, settings }: { isOutsider: boolean; settings: StoredSettings },
) {
  const isShown = passages.length + documents.length > 0
  return {
    isTainted: isOutsider || isShown || isTaintedBy(context, history),
    sources: passages.map(({ cited }) => cited.source_id),
    browseHosts: settings.browse_hosts,
    ...(conversationOf(context) === undefined && { egressRefusal: nobodyApproves }),
  }
}

interface JudgedParts extends Pick<PromptParts, 'history' | 'documents'> {
  passages: readonly FoundPassage[]
}

/** Opens the conversation's documents; whole ones for a model up to a quarter of its window, at four characters per token. */
async function openDocuments(
  { documents }: Pick<Dependencies, 'documents'>,
  context: QuestionContext,
  { provider, contextWindow }: { provider: string; contextWindow: number },
  { cited, emit, signal }: Pick<Retrieval, 'cited' | 'emit' | 'signal'>,
): Promise<ConversationDocuments & { messages: PromptMessage[] }> {
  if (conversationOf(context) === undefined) return { ...noDocuments, messages: [] }
  const opened = await documents.open(context.agent, context.userMessage, {
    // The retriever only reads passages after the question.
    characters: provider === 'builtin' ? 0 : contextWindow,
    onReading: name => emit({ type: 'reading', name }),
    signal,
  })
  cited.add(opened.cited)
  return { ...opened, messages: documentsMessages(opened.passages) }
}

/**
 * Returns the tools; the caller's keep their names, by which the caller knows them. The order is fixed, because tools begin
 * the prompt: the caller's, the built-in ones, the others as their features store them.
 */
function allTools(offered: readonly Tool[], callers: readonly Tool[] = []): readonly Tool[] {
  const own = callers.length === 0 ? offered : nameTools(offered, new Set(callers.map(({ name }) => name)))
  const [builtIn, others] = [true, false].map(side =>
    own.filter(({ isBuiltIn = false }) => isBuiltIn === side),
  )
  return [...callers, ...(builtIn ?? []), ...(others ?? [])]
}

/**
 * Calls a model. Its tool calls get ids of ours, which are the stored ones: so later prompts repeat them
 * unchanged, to any model.
 */
function callsOf(
  model: LanguageModel,
  meter: Meter,
  { ids }: Pick<Dependencies, 'ids'>,
): TurnInput['stream'] {
  return options =>
    meter.stream(options, report => {
      const parts = streamWithRetry(model, options, undefined, report)
      return take =>
        parts(part => take(part.type === 'tool-call' ? { ...part, toolCallId: ids.toolCall() } : part))
    })
}

/** Passes the states of a turn to its record, and keeps the state that it waits with. */
function recordedBy(
  { record, parks }: Recording<PlannedState> = {},
  stateAt: (turn: TurnState) => PlannedState,
) {
  const parked: Pick<PlannedOutcome, 'planned'> = {}
  const park = (state: TurnState) => {
    parked.planned = stateAt(state)
  }
  const hooks: Pick<TurnInput, 'record' | 'park'> = {
    ...(record && { record: turn => record(stateAt(turn)) }),
    ...(parks && { park }),
  }
  return { hooks, parked }
}

export function createTurnPlanner(needs: Dependencies) {
  /** Throws CONFLICT for an agent that is not active, and errors of budgets and of the choice of a model. */
  async function plan(agentId: string, options: PlanOptions): Promise<TurnPlan> {
    const { name, status, settings, credentials } = await needs.settings.profileOf(agentId)
    if (status !== 'active')
      throw conflict(`This agent is ${status} and does not answer. Set its status to active first.`)
    const chosen = await needs.models.resolve({ settings, credentials, requested: options.model })
    const meter = await needs.usage.meter({ ...chosen, model: chosen.id, agentId, settings })
    const form = await formFor(needs, options, chosen.provider)
    const own = { agentName: name, instructions: options.instructions ?? settings.system_prompt }
    return {
      model: chosen.id,
      settings,
      async run(context, emit, signal, recording) {
        const from = recording?.from
        if (from) meter.resume(from.spent)
        const { agent, userMessage: question, sent } = context
        const { contextWindow } = chosen
        const [pages, cited] = [createPageList(needs.clock, from?.pages), createCitedList(from?.cited)]
        const documents = await openDocuments(needs, context, chosen, { cited, emit, signal })
        const offersTools = options.enableTools !== false && settings.llm_tools !== 'off'
        const turn: ToolTurn = {
          ...{ conversationId: conversationOf(context), isOutsider: options.isOutsider },
          ...{ report: reportTo(pages, cited, emit), searchFiles: documents.search },
          waitSeconds: recording?.parks ? waitSecondsOf(settings) : undefined,
          builtInRules: settings.builtin_tools ?? {},
        }
        const [history, passages, offered] = await orAborted(
          Promise.all([
            readHistory(context, contextWindow),
            from?.found ??
              retrieve(needs, context, { ...options, ...chosen, documents, cited, emit, signal }),
            offersTools ? needs.toolsOf(agent, turn) : [],
          ]),
          signal,
        )
        const { tools, leftOut } = await fitTools(allTools(offered, sent?.tools), {
          characters: (promptCharacters(contextWindow) - sizeOf(documents.messages)) / 2,
          topic: [question.content, ...history.map(({ content }) => content).reverse()],
        })
        const parts = { ...own, passages, history, form, documents: documents.messages }
        const seen = () => ({ pages: pages.all(), cited: cited.all(), spent: meter.spent() })
        const states = recordedBy(recording, turn => ({ turn, found: passages, ...seen() }))
        const outcome = await runTurn({
          stream: callsOf(chosen.model, meter, needs),
          contextWindow,
          temperature: temperatureOf(settings),
          ...{ tools, form },
          messages: await promptOf(context, parts, contextWindow),
          pinned: 1 + documents.messages.length,
          ...judgedBy(context, parts, { isOutsider: options.isOutsider, settings }),
          ...(sent && { call: sent.call, toolChoice: sent.toolChoice, approvalRefusal: nobodyApproves }),
          emit,
          signal,
          maxIterations: needs.maxIterations,
          newToolCallId: (own = needs.ids.toolCall()) => own,
          ...(question.id !== undefined && { cause: { messageId: question.id } }),
          from: from?.turn,
          ...states.hooks,
        })
        return {
          ...{ ...outcome, usage: meter.priced(outcome.usage), ...states.parked },
          ...{ toolsLeftOut: leftOut, pages: pages.all(), passages: cited.all() },
          shown: passagesText(passages),
        }
      },
    }
  }

  return { plan, refuse: refusedBy(needs) }
}

/** Returns the plan for a question that is stored but refused: its turn fails with the refusal. */
function refusedBy({ settings: { profileOf } }: Pick<Dependencies, 'settings'>) {
  return async (agentId: string, refusal: AppError, { model }: PlanOptions): Promise<TurnPlan> => {
    const { settings } = await profileOf(agentId)
    const run = () => Promise.reject(refusal)
    return { model: model ?? settings.llm_model ?? '', settings, run }
  }
}

export type TurnPlanner = ReturnType<typeof createTurnPlanner>

/**
 * Answers a question outside of conversations, without storing anything. Throws the error that ended the turn, CONFLICT if a call
 * needs the approval of a person.
 */
export async function answerAlone(
  planner: TurnPlanner,
  agent: AgentHandle,
  { content, ...options }: { content: string } & PlanOptions,
  signal: AbortSignal,
): Promise<Pick<ChatMessage, 'content' | 'toolCalls' | 'toolResults' | 'metadata'>> {
  const { model, run } = await planner.plan(agent.agentId, options)
  const userMessage = { content, conversationId: '', sequence: 0, toolResults: null }
  const { end, ...said } = await run({ agent, userMessage, isFirst: true }, () => {}, signal, { parks: true })
  signal.throwIfAborted()
  if (end.kind === 'waiting') throw unheard(end.waits.name)
  if (end.kind === 'failed') throw end.error
  return { ...said, metadata: { model, ...(said.output !== undefined && { output: said.output }) } }
}

function unheard(tool: string): AppError {
  return conflict(
    `The call of ${tool} needs the approval of a person, for which only a turn of a conversation waits. It was not made. Set a ` +
      'conversation_id, or have the tool need no approval.',
  )
}
