import { Type } from 'typebox'
import type { Tool } from '#models/tools/tool.ts'
import { fromSchema } from '#models/tools/tool.ts'
import type { KnowledgeService } from './knowledge.service.ts'

const resultsGiven = 8

const input = fromSchema(
  Type.Object({
    query: Type.String({ minLength: 1, description: 'What to look for, in natural language.' }),
  }),
)

/** Lets a model look something up in the agent's own sources. */
export function searchKnowledge(
  search: (query: string, limit: number, signal: AbortSignal) => ReturnType<KnowledgeService['search']>,
): Tool {
  return {
    name: 'search_knowledge',
    description: "Searches the agent's documents and crawled pages for passages on a question.",
    isBuiltIn: true,
    ...input,
    execute: async ({ query }, signal) => ({ results: await search(String(query), resultsGiven, signal) }),
  }
}
