import type { StoredSettings } from '#features/agents/settings.service.ts'
import type { FoundPassage } from '#features/knowledge/knowledge.service.ts'
import type { PromptMessage } from '#models/language-model/language-model.ts'
import { readBounded } from '../../conversations/bounded-window.ts'
import { type ConversationDocuments, noDocuments } from '../../files/conversation-documents.ts'
import type { Form } from '../../form/form.ts'
import type { StoredMessage } from '../../rows/messages.repository.ts'
import { promptCharacters } from '../../turn/context-budget.ts'
import { buildPrompt, buildSentPrompt, documentsMessages } from '../../turn/prompt.ts'
import { seenCharacters } from '../../turn/truncate-result.ts'
import type { TurnInput } from '../../turn/turn-input.ts'
import type { createCitedList } from '../page-list.ts'
import { readImages } from '../read-images.ts'

import type { Dependencies, QuestionContext } from './turn-plan.ts'

/** Max messages of a conversation that are read for a prompt. */
const historyMessages = 400

/** For the model, of calls outside of conversations. */
export const noApproval =
  'This call needs the approval of a person, which can only be given in a conversation that is kept at this service. It was ' +
  'not made. Say what it would do, and that it has to be asked for there.'

/** Reads the messages before a question: only as many as fill the prompt, because others would be dropped anyway. */
export async function readHistory(
  { agent: { db }, userMessage, isFirst }: QuestionContext,
  contextWindow: number,
) {
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

export async function promptOf(
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
export async function retrieve(
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

/** Returns undefined for a question outside of conversations. */
export function conversationOf({ userMessage, sent }: QuestionContext): string | undefined {
  return sent === undefined && userMessage.id !== undefined ? userMessage.conversationId : undefined
}

/** Returns the data for judging calls. Outside of conversations, no person can approve what calls send. */
export function judgedBy(
  context: QuestionContext,
  { history, passages, documents }: JudgedParts,
  { isOutsider, settings }: { isOutsider: boolean; settings: StoredSettings },
) {
  const isShown = passages.length + documents.length > 0
  return {
    isTainted: isOutsider || isShown || isTaintedBy(context, history),
    sources: passages.map(({ cited }) => cited.source_id),
    browseHosts: settings.browse_hosts,
    ...(conversationOf(context) === undefined && { egressRefusal: noApproval }),
  }
}

interface JudgedParts extends Pick<PromptParts, 'history' | 'documents'> {
  passages: readonly FoundPassage[]
}

/** Opens the conversation's documents; whole ones for a model up to a quarter of its window, at four characters per token. */
export async function openDocuments(
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
