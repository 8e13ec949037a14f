import { Type } from 'typebox'
import type { SearchedPassage } from '#models/language-model/passages.ts'
import { fromSchema, type Tool } from '#models/tools/tool.ts'
import type { ToolTurn } from '#models/tools/tool-turn.ts'
import { citedOf, type KnowledgeService } from './knowledge.service.ts'
import type { DocumentList } from './source-rows.repository.ts'

const resultsGiven = 8
/** Max passages from the documents of the conversation. */
const ofFiles = 6
/** The query that lists all documents. */
const everything = '*'

const input = fromSchema(
  Type.Object({
    query: Type.String({
      minLength: 1,
      maxLength: 10_000,
      description: `What to look for, in natural language; ${everything} for the list of documents.`,
    }),
  }),
)

interface Dependencies {
  lookUp(query: string, limit: number, signal: AbortSignal): ReturnType<KnowledgeService['lookUp']>
  documents(): Promise<DocumentList>
  turn?: ToolTurn | undefined
}

/** Files of the conversation are no sources. */
function sourcesIn(result: unknown): string[] | undefined {
  const { results } = Object(result) as { results?: SearchedPassage[] }
  return results?.filter(({ metadata }) => metadata.file_id === undefined).map(found => found.source_id)
}

/** A tool that lets a model search the agent's own sources. */
export function searchKnowledge({ lookUp, documents, turn }: Dependencies): Tool {
  const files = turn?.searchFiles ? ', and the documents that were sent in this conversation,' : ''
  return {
    name: 'search_knowledge',
    description: `Searches the agent's documents and crawled pages${files} for passages on a question.`,
    isBuiltIn: true,
    readsOnly: async () => true,
    origin: sourcesIn,
    ...input,
    async execute({ query }, signal) {
      if (query === everything) return await documents()
      const passages = (await turn?.searchFiles?.(String(query), ofFiles, signal)) ?? []
      const results = [...passages, ...(await lookUp(String(query), resultsGiven - passages.length, signal))]
      turn?.report({ type: 'passages_found', passages: results.map(citedOf) })
      return { results }
    },
  }
}
