/** Documents that people sent in a conversation, as turns use them. */
import { Readable } from 'node:stream'
import {
  type Attached,
  type AttachedDocument,
  citedWhole,
  formatOfType,
  pagesAsPassages,
} from '#features/knowledge/attached.service.ts'
import type { CitedPassage, Passage, SearchedPassage } from '#models/language-model/passages.ts'
import type { ToolTurn } from '#models/tools/tool-turn.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { changeFile, type DocumentRow, findDocuments, type Place } from '../rows/chat-files.repository.ts'

/** Time limit for reading all documents of a message (ms). */
const readingMs = 60_000
/** Max documents of one conversation, the newest. */
const maxDocuments = 50
/** Number of passages from which those for a question are chosen. */
const candidates = 24
/** Min score of a passage that a model has searched for. */
const leastScore = 0.2
const notInTime = 'It could not be read within a minute. The next message tries again.'
const notNow = 'It could not be read at the moment. The next message tries again.'

/** Returns the name under which the passages of a document are stored: missing ones are made again. */
export function passagesName(fileId: string): string {
  return `${fileId}-passages`
}

export interface ConversationDocuments {
  /** Pages of documents for the prompt, as far as they fit, and a sentence on each other document. */
  passages: Passage[]
  /** The documents of which the model is shown all pages. */
  cited: CitedPassage[]
  /** Passages for a question, in the documents that are not shown whole. */
  passagesFor(question: string, signal: AbortSignal): Promise<SearchedPassage[]>
  /** Searches all documents; absent if there are none. */
  search?: ToolTurn['searchFiles']
}

interface Opening {
  /** Max characters of the newest documents together that are shown whole. */
  characters: number
  onReading(name: string): void
  signal: AbortSignal
}

interface Dependencies {
  attached: Attached
  log: Log
}

/** A document, with the reason why it can't be used. */
interface Opened extends AttachedDocument {
  problem?: string | undefined
}

export const noDocuments: ConversationDocuments = { passages: [], cited: [], passagesFor: async () => [] }

export function createConversationDocuments({ attached, log }: Dependencies) {
  const read = createReading({ attached, log })

  async function open(agent: AgentHandle, place: Place, { characters, onReading, signal }: Opening) {
    const rows = await findDocuments(agent.db, place, maxDocuments)
    if (rows.length === 0) return noDocuments
    const deadline = AbortSignal.timeout(readingMs)
    const documents = await Promise.all(
      rows.map(async (row): Promise<Opened> => {
        const { id, name } = row
        const sizeOf = () => agent.files.sizeOf(passagesName(id))
        const document = { id, name, passages: agent.files.locate(passagesName(id)) }
        if (row.status === 'error') return { ...document, size: 0, problem: row.error ?? '' }
        const size = await sizeOf()
        if (size !== undefined) return { ...document, size }
        onReading(name)
        const problem = await read(agent, row, { caller: signal, deadline })
        return { ...document, problem, size: (await sizeOf()) ?? 0 }
      }),
    )
    return await asUsed(attached, documents, characters, signal)
  }

  return {
    /**
     * Opens the documents of a conversation up to a message; unread ones are read first. If the documents are unavailable,
     * the question is answered without them.
     */
    open: (agent: AgentHandle, place: Place, opening: Opening): Promise<ConversationDocuments> =>
      open(agent, place, opening).catch(error => {
        opening.signal.throwIfAborted()
        log.warn({ err: error, agentId: agent.agentId }, 'the documents of a conversation were not opened')
        return { ...noDocuments, passages: [{ source: 'Files of this conversation', text: `(${notNow})` }] }
      }),
  }
}

export type OpenDocuments = ReturnType<typeof createConversationDocuments>['open']

/** Reads a document and stores its passages. Returns the reason if there are none. */
function createReading({ attached, log }: Dependencies) {
  return async (
    { db, files, agentId }: AgentHandle,
    { id, mime_type }: DocumentRow,
    { caller, deadline }: { caller: AbortSignal; deadline: AbortSignal },
  ): Promise<string | undefined> => {
    await changeFile(db, id, { status: 'processing', progress: 0, error: null })
    const given = { content: files.locate(id), format: formatOfType(mime_type) }
    try {
      const cut = await attached.cut(given, AbortSignal.any([caller, deadline]))
      if (cut.kind === 'read') {
        await files.write(passagesName(id), Readable.from([cut.result], { objectMode: false }))
        const isThere = await changeFile(db, id, { status: 'ready', progress: 1 })
        if (!isThere) await files.remove(passagesName(id))
        return undefined
      }
      const { kind, reason } = cut
      await changeFile(db, id, { status: kind === 'unreadable' ? 'error' : 'ready', error: reason })
      return reason
    } catch (error) {
      const reason = deadline.aborted ? notInTime : notNow
      await changeFile(db, id, { status: 'ready', error: caller.aborted ? null : reason })
      caller.throwIfAborted()
      if (!deadline.aborted) log.warn({ err: error, agentId }, 'a document was not read')
      return reason
    }
  }
}

const tooLong = '(This document is too long to stand here whole. Passages of it stand with the questions.)'

/** @param documents the newest first */
async function asUsed(
  attached: Attached,
  documents: readonly Opened[],
  characters: number,
  signal: AbortSignal,
): Promise<ConversationDocuments> {
  const readable = documents.filter(({ problem }) => problem === undefined)
  const pages = await attached.whole(readable, characters, signal)
  const rest = readable.filter(({ id }) => !pages.has(id))
  return {
    // The oldest first, so that a prompt begins like the one before.
    passages: documents.toReversed().flatMap(({ id, name: source, problem }) => {
      const found = pages.get(id)
      if (found !== undefined) return pagesAsPassages(source, found)
      return [{ source, text: problem === undefined ? tooLong : `(This file can’t be read: ${problem})` }]
    }),
    cited: readable.flatMap(file => {
      const found = pages.get(file.id)
      return found === undefined ? [] : [citedWhole(file, found)]
    }),
    async passagesFor(text, client) {
      if (rest.length === 0) return []
      return await attached.search(rest, { text, limit: candidates, minScore: 0 }, client)
    },
    ...(readable.length > 0 && {
      search: (text, limit, client) =>
        attached.search(readable, { text, limit, minScore: leastScore }, client),
    }),
  }
}
