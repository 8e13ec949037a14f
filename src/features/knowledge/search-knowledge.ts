import { Type } from 'typebox'
import type { Tool } from '#models/tools/tool.ts'
import { fromSchema } from '#models/tools/tool.ts'
import type { KnowledgeService } from './knowledge.service.ts'
import type { DocumentList } from './source-rows.repository.ts'

const resultsGiven = 8
/** The query that stands for all documents. */
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
}

/** Lets a model look something up in the agent's own sources. */
export function searchKnowledge({ lookUp, documents }: Dependencies): Tool {
  return {
    name: 'search_knowledge',
    description: "Searches the agent's documents and crawled pages for passages on a question.",
    isBuiltIn: true,
    ...input,
    async execute({ query }, signal) {
      if (query === everything) return await documents()
      return { results: await lookUp(String(query), resultsGiven, signal) }
    },
  }
}
