import { browseUrl } from '#features/chat/builtin-tools/browse-url.ts'
import { searchKnowledge } from '#features/chat/builtin-tools/search-knowledge.ts'
import type { Knowledge } from '#features/sources/knowledge.service.ts'
import { createPageReader } from '#features/sources/page-reader.service.ts'
import type { Tool } from '#models/tool.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Foundation } from './foundation.ts'

interface Needs {
  foundation: Foundation
  knowledge: Knowledge
}

/** The tools that come with the service, made anew for each agent that uses them. */
export function createBuiltinTools({ foundation, knowledge }: Needs) {
  const readPage = createPageReader(foundation.documentWorkers)
  const knowledgeTool = (agent: AgentHandle): Tool =>
    searchKnowledge((query, limit, signal) => knowledge.search(agent, { query, limit }, signal))
  return {
    /** Looks something up in the agent's own documents. */
    knowledgeTool,
    all: (agent: AgentHandle): Tool[] => [knowledgeTool(agent), browseUrl(foundation.outbound, readPage)],
  }
}

export type BuiltinTools = ReturnType<typeof createBuiltinTools>
