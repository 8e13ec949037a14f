import { type StoredSettings, temperatureOf, waitSecondsOf } from '#features/agents/settings.service.ts'
import type { Meter } from '#features/usage/usage.service.ts'
import type { LanguageModel } from '#models/language-model/language-model.ts'
import type { ToolTurn } from '#models/tools/tool-turn.ts'
import { streamWithRetry } from '#models/transport/call-with-retry.ts'
import { orAborted } from '#platform/or-aborted.ts'
import type { Form } from '../../form/form.ts'
import { promptCharacters, sizeOf } from '../../turn/context-budget.ts'
import { fitTools } from '../../turn/fit-tools.ts'
import { passagesText } from '../../turn/prompt.ts'
import { runTurn } from '../../turn/run-turn.ts'
import type { TurnInput } from '../../turn/turn-input.ts'
import type { TurnState } from '../../turn/turn-state.ts'
import type { PlannedState, Recording } from '../../waiting/recorded-turn.ts'
import { createCitedList, createPageList } from '../page-list.ts'

import { allTools } from './offer-tools.ts'
import {
  conversationOf,
  judgedBy,
  noApproval,
  openDocuments,
  promptOf,
  readHistory,
  retrieve,
} from './prepare.ts'
import type { Dependencies, PlannedOutcome, PlanOptions, TurnPlan } from './turn-plan.ts'

/** A plan's fixed parts. */
interface Planned {
  chosen: Awaited<ReturnType<Dependencies['models']['resolve']>>
  settings: StoredSettings
  meter: Meter
  form: Form | undefined
  /** The agent's name and instructions. */
  own: Pick<Parameters<typeof promptOf>[1], 'agentName' | 'instructions'>
}

/** Returns the function that runs a planned turn: prepares the prompt, offers tools, and records what it is told to. */
export function runPlanned(
  dependencies: Dependencies,
  options: PlanOptions,
  { chosen, settings, meter, form, own }: Planned,
): TurnPlan['run'] {
  return async (context, emit, signal, recording) => {
    const from = recording?.from
    if (from) meter.resume(from.spent)
    const { agent, userMessage: question, sent } = context
    const { contextWindow } = chosen
    const [pages, cited] = [createPageList(dependencies.clock, from?.pages), createCitedList(from?.cited)]
    const documents = await openDocuments(dependencies, context, chosen, { cited, emit, signal })
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
          retrieve(dependencies, context, { ...options, ...chosen, documents, cited, emit, signal }),
        offersTools ? dependencies.toolsOf(agent, turn) : [],
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
      stream: callsOf(chosen.model, meter, dependencies),
      contextWindow,
      temperature: temperatureOf(settings),
      ...{ tools, form },
      messages: await promptOf(context, parts, contextWindow),
      pinned: 1 + documents.messages.length,
      ...judgedBy(context, parts, { isOutsider: options.isOutsider, settings }),
      ...(sent && { call: sent.call, toolChoice: sent.toolChoice, approvalRefusal: noApproval }),
      emit,
      signal,
      maxIterations: dependencies.maxIterations,
      newToolCallId: (own = dependencies.ids.toolCall()) => own,
      ...(question.id !== undefined && { cause: { messageId: question.id } }),
      from: from?.turn,
      ...states.hooks,
    })
    return {
      ...{ ...outcome, usage: meter.priced(outcome.usage), ...states.parked },
      ...{ toolsLeftOut: leftOut, pages: pages.all(), passages: cited.all() },
      shown: passagesText(passages),
    }
  }
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
